package rows

import (
	"fmt"
	"maps"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractRequestID keeps what a client sends, where it is harmless.
func contractRequestID(t *testing.T, p *rig.Practice) {
	made := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for id, kept := range map[string]bool{
		"a": true, "AZaz09._:-": true, letters(128): true,
		"": false, letters(129): false, "a b": false, "a/b": false, "a\tb": false, "é": false, `a"b`: false, "a,b": false, "a_%0a": false,
	} {
		for path, status := range map[string]int{"/contact/1": 200, "/contact/999999": 404, "/nothing": 400} {
			a := p.Call("GET", path, p.Token, "", "X-Request-Id", id)
			require.Equal(t, status, a.Status)
			if got := a.Header.Get("X-Request-Id"); kept {
				require.Equal(t, id, got)
			} else {
				require.Regexp(t, made, got, id)
			}
		}
	}
}

// contractTokenHeader is how the token comes.
func contractTokenHeader(t *testing.T, p *rig.Practice) {
	other := p.Login(rig.FullKey, "other")
	for _, c := range []struct {
		what    string
		headers []string
		status  int
	}{
		{"lower case", []string{"token: " + p.Token}, 200},
		{"upper case", []string{"TOKEN: " + p.Token}, 200},
		{"blanks around", []string{"Token:  " + p.Token + " "}, 200},
		{"empty", []string{"token:"}, 401},
		{"as a bearer", []string{"Authorization: Bearer " + p.Token}, 401},
		{"with more", []string{"token: " + p.Token + "," + p.Token}, 401},
		{"a live one after nonsense", []string{"token: nonsense", "token: " + p.Token}, 401},
		{"a live one before nonsense", []string{"token: " + p.Token, "token: nonsense"}, 401},
		{"two live ones", []string{"token: " + p.Token, "token: " + other}, 401},
	} {
		a := p.Raw(rig.RawRequest("GET", "/contact/1", c.headers...))
		require.Equal(t, c.status, a.Status, c.what)
	}
	a := p.Raw(rig.RawRequest("GET", "/contact/1?token="+p.Token))
	require.Equal(t, 401, a.Status)
	a = p.Raw(rig.RawRequest("GET", "/authenticate", "token:"))
	require.Equal(t, "not_logged_in", a.Failure(t).Reason)
}

// contractUpdate merges what is sent into what there is.
func contractUpdate(t *testing.T, p *rig.Practice) {
	id := p.Post("contact", `{"name":"A","kind":"person","note":"n","infix":"van","payment_days":14,"birth_date":"1980-02-29"}`)
	path := fmt.Sprintf("/contact/%d", id)
	want := p.Get(path)
	for _, c := range []struct {
		body   string
		change map[string]any
	}{
		{`{}`, nil},
		{`{"name":"A"}`, nil},
		{`{"name":"B"}`, map[string]any{"name": "B"}},
		{`{"note":null}`, map[string]any{"note": nil}},
		{`{"note":" "}`, map[string]any{"note": " "}},
		{`{"note":""}`, map[string]any{"note": nil}},
		{`{"infix":"","payment_days":null}`, map[string]any{"infix": nil, "payment_days": nil}},
		{`{"is_blocked":null}`, nil},
		{`{"birth_date":"2026-07-01T12:00:00.1239+02:00"}`, map[string]any{"birth_date": "2026-07-01T10:00:00.123Z"}},
		{`{"birth_date":"2026-07-01"}`, map[string]any{"birth_date": "2026-06-30T22:00:00.000Z"}},
		{`{"birth_date":"2026-01-01"}`, map[string]any{"birth_date": "2025-12-31T23:00:00.000Z"}},
		{`{"birth_date":"2026-07-01T10:00Z"}`, map[string]any{"birth_date": "2026-07-01T10:00:00.000Z"}},
		{fmt.Sprintf(`{"id":%d,"name":"𝄞é"}`, id), map[string]any{"name": "𝄞é"}},
	} {
		maps.Copy(want, c.change)
		a := p.Call("PUT", path, p.Token, c.body)
		require.Equal(t, 200, a.Status, "%s: %s", c.body, a.Body)
		got := a.Data(t)
		want["modified_at"] = got["modified_at"]
		require.Equal(t, want, got, c.body)
		require.Equal(t, want, p.Get(path), c.body)
	}
}
