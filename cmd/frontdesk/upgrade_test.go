package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestRollingUpgrade takes a service of three gateways from the version before this
// one to this one, on to one with a new schema, and one gateway back, one gateway
// after the other while clients work with them: nothing fails at all, nothing is
// lost or double, and what one version began the other goes on with.
func TestRollingUpgrade(t *testing.T) {
	previous, next := previousProgram(t), nextProgram(t)
	this := binary(t)
	s := startSoak(t, previous)
	stop := s.work()
	begun := time.Now()
	var summary bytes.Buffer
	table := tabwriter.NewWriter(&summary, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "after\tgateway\tis now\tanswers since")
	change := func(n int, name, program string) {
		at, before, i := time.Now(), s.answers(), s.instances[n]
		i.stop()
		i.program = program
		i.start()
		s.recovered()
		fmt.Fprintf(table, "%.0f s\t%d\t%s\t%d\n", at.Sub(begun).Seconds(), n+1, name, s.answers()-before)
	}
	s.step(change, "this version", this)
	s.step(change, "the next one", next)
	change(2, "this version again", this)
	s.newThings(s.instances[0].desk(), s.instances[2].desk())
	s.agree(s.instances[2].desk(), s.instances[0].desk())
	<-time.After(soakCalm)
	stop()
	s.judge(&summary)
	require.Empty(t, s.faults)
	table.Flush()
	t.Logf("three gateways\n%s", &summary)
}

// step changes the gateways to another program; while there are both, each has to go
// on with what the other one began.
func (s *soak) step(change func(n int, name, program string), name, program string) {
	for n := range s.instances {
		change(n, name, program)
		if n == 0 {
			older, newer := s.instances[1].desk(), s.instances[0].desk()
			s.agree(older, newer)
			s.agree(newer, older)
		}
	}
}

// desk is the gateway for what is asked of no other one.
func (i *instance) desk() *desk {
	return &desk{t: i.t, base: "http://" + i.listen + "/webservice_v2", http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// agree has one gateway begin what the other goes on with.
func (s *soak) agree(one, other *desk) {
	t := s.t
	t.Helper()
	s.agreed++
	name := fmt.Sprintf("soak-upgrade-%d", s.agreed)
	token := one.login(fullKey, "demo")

	contact := fmt.Sprintf(`{"kind":"person","name":%q}`, name)
	created := one.call("POST", "/contact", token, contact, "Idempotency-Key", name)
	require.Equal(t, 201, created.Status, "%s", created.Body)
	again := other.call("POST", "/contact", token, contact, "Idempotency-Key", name)
	require.Equal(t, 201, again.Status, "%s", again.Body)
	require.Equal(t, created.id(t), again.id(t), "a repetition gets the first answer")

	path := fmt.Sprintf("/contact/%d", created.id(t))
	read := one.call("GET", path, token, "")
	changed := other.call("PUT", path, token, `{"note":"changed"}`, "If-Match", read.Header.Get("ETag"))
	require.Equal(t, 200, changed.Status, "%s", changed.Body)
	require.Equal(t, 412, one.call("PUT", path, token, `{"note":"lost"}`, "If-Match", read.Header.Get("ETag")).Status)

	id := s.promise(one, token, name, "")
	s.await(id)
	address := other.collect(token, id)
	require.Equal(t, 200, one.download(one.base+address[len(other.base):]).Status)

	require.Equal(t, 200, other.call("GET", "/authenticate/logout", token, "").Status)
	require.Equal(t, 401, one.call("GET", path, token, "").Status, "a logout holds everywhere")
}

// promise has an order promised, which the ledger holds the service to.
func (s *soak) promise(d *desk, token, reference, more string) (id string) {
	s.t.Helper()
	s.mu.Lock()
	s.orders[reference] = true
	s.mu.Unlock()
	body := fmt.Sprintf(newOrder, 1, fmt.Sprintf(`,"reference":%q,"webhook_url":%q%s`, reference, s.receiver, more))
	id = d.call("POST", "/order", token, body).promise(s.t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promised[id] = reference
	return id
}

// await returns when the receiver was told that a job is done.
func (s *soak) await(id string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.heard[id]
	}, time.Minute, 20*time.Millisecond, "the job %s", id)
}

// newThings uses what is new in the next version while a gateway of this one runs.
func (s *soak) newThings(newer, older *desk) {
	t := s.t
	t.Helper()
	token := newer.login(fullKey, "demo")
	const card = `{"kind":"person","name":"Jansen","loyalty_number":"L-1"}`
	contact := newer.create(token, "contact", card)
	require.Equal(t, 409, newer.call("POST", "/contact", token, card).Status, "the index keeps it unique")
	newer.create(token, "loyaltycard", fmt.Sprintf(`{"contact_id":%d}`, contact))

	path := fmt.Sprintf("/contact/%d", contact)
	require.Equal(t, 403, older.call("POST", "/contact", token, card).Status, "it does not know the field")
	require.Equal(t, 200, older.call("PUT", path, token, `{"note":"changed"}`).Status)
	require.Equal(t, "L-1", newer.call("GET", path, token, "").data(t)["loyalty_number"], "what it does not know it leaves alone")
	for _, d := range []*desk{newer, older} { // although the older one does not know what refers to it
		refused := d.call("DELETE", path, token, "")
		require.Equal(t, 406, refused.Status)
		require.Equal(t, "Field: id in use at: loyaltycard", refused.failure(t).Message)
	}

	// Were it not for what jobs need, one in three would come to the older gateway.
	ids := make([]string, 9)
	for n := range ids {
		ids[n] = s.promise(newer, token, fmt.Sprintf("soak-referred-%d", n), fmt.Sprintf(`,"referrer_id":%d`, contact))
	}
	for _, id := range ids {
		s.await(id)
	}
	conn, err := pgx.Connect(t.Context(), s.database)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	var referred int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM "order" WHERE referrer_id = $1`, contact).Scan(&referred))
	require.Equal(t, len(ids), referred)
}
