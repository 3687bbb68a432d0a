package callbacks

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// changed is the part of an answer of /changes that these tests look into.
type changed struct {
	Data []struct {
		Resource, Kind string
		ID             int
	}
	Cursor string
	More   bool
}

func changesOf(t *testing.T, a rig.Answer) (c changed) {
	t.Helper()
	require.Equal(t, 200, a.Status, "%s", a.Body)
	require.NoError(t, json.Unmarshal(a.Body, &c))
	return c
}

// TestCallbackChanges waits for changes by callback.
func TestCallbackChanges(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		d := rig.Start(t, options)
		p := &rig.Practice{Desk: d, T: t, DSN: dsn, Token: d.Login(rig.HookedKey, "demo")}
		body := func(after, rest string) string {
			return fmt.Sprintf(`{"webhook_url":%q,"after":%q%s}`, h.Address(), after, rest)
		}
		ask := func(after, rest string) (id string) {
			return d.Call("POST", "/changes", p.Token, body(after, rest)).Promise(t)
		}
		result := func(id string) changed {
			require.Equal(t, id, h.Next(t))
			return changesOf(t, d.Answered(p.Token, id, 200))
		}
		begin := changesOf(t, d.Call("GET", "/changes", p.Token, "")).Cursor

		id := ask(begin, `,"resource":"contact","wait":3600`)
		require.Equal(t, 202, d.Call("GET", "/webhook?id="+id, p.Token, "").Status, "it waits")
		contact := p.Contact()
		told := result(id)
		require.Equal(t, contact, told.Data[0].ID)
		require.Equal(t, "created", told.Data[0].Kind)

		require.Equal(t, contact, result(ask(begin, `,"resource":"contact"`)).Data[0].ID, "what is there already is told at once")
		require.Empty(t, result(ask(told.Cursor, `,"resource":"vehicle","wait":1`)).Data, "nothing has come")

		refuses(d, h, "changes", "")
		for range 20 {
			id = ask(told.Cursor, `,"resource":"vehicle"`)
		}
		full := d.Call("POST", "/changes", p.Token, body(told.Cursor, `,"resource":"vehicle"`))
		full.Refused(t, 429, "Too many requests", "one more")
		require.Equal(t, "60", full.Header.Get("Retry-After"))
		other := d.Login(rig.HookedKey, "other")
		theirs := changesOf(t, d.Call("GET", "/changes", other, "")).Cursor
		d.Call("POST", "/changes", other, body(theirs, "")).Promise(t) // places are a client's
		require.Equal(t, 404, d.Call("DELETE", "/changes?id="+id, other, "").Status)
		require.Equal(t, 200, d.Call("DELETE", "/changes?id="+id, p.Token, "").Status)
		ask(told.Cursor, `,"resource":"vehicle"`)
	})
}

// TestCallbackChangesAreJudgedAgain has the user be blocked while a request of his waits: he
// is told nothing.
func TestCallbackChangesAreJudgedAgain(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		d := rig.Start(t, options)
		p := &rig.Practice{Desk: d, T: t, DSN: dsn, Token: d.Login(rig.HookedKey, "demo")}
		begin := changesOf(t, d.Call("GET", "/changes", p.Token, "")).Cursor
		id := d.Call("POST", "/changes", p.Token, fmt.Sprintf(`{"webhook_url":%q,"after":%q,"resource":"vehicle","wait":2}`, h.Address(), begin)).Promise(t)
		p.Alter("UPDATE app_user SET is_blocked = 1 WHERE username = 'demo'")
		require.Equal(t, id, h.Next(t))
		p.Alter("UPDATE app_user SET is_blocked = 0 WHERE username = 'demo'")
		require.Contains(t, string(d.Answered(d.Login(rig.HookedKey, "demo"), id, 401).Body), "Not authorized")
	})
}
