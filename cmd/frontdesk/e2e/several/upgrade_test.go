package several

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/e2e/recipes"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestForeignRollingUpgrade takes a service of three gateways from the version before this
// one to this one, on to one with a new schema, and one gateway back, one gateway
// after the other while clients work with them: nothing fails at all, nothing is
// lost or double, and what one version began the other goes on with. It is alone,
// since not one request may come too late.
func TestForeignRollingUpgrade(t *testing.T) {
	previous, this := previousProgram(t), rig.Binary(t)
	next := recipes.Build(t, "frontdesk") // with a schema change of each kind that docs/upgrading.md allows, and work that this version does not know
	s := startSoak(t, previous)
	stop := s.work()
	change := func(n int, name, program string) {
		before, i := s.answers(), s.instances[n]
		i.stop()
		i.program = program
		i.start()
		s.recovered()
		t.Logf("gateway %d is now %s, %d answers since", n+1, name, s.answers()-before)
	}
	s.step(change, "this version", this)
	s.step(change, "the next one", next)
	change(2, "this version again", this)
	s.newThings(&s.instances[0].Desk, &s.instances[2].Desk)
	s.agree(&s.instances[2].Desk, &s.instances[0].Desk)
	s.calm()
	stop()
	s.judge()
	require.Zero(t, s.faults)
}

// step changes the gateways to another program; while there are both, each has to go
// on with what the other one began.
func (s *soak) step(change func(n int, name, program string), name, program string) {
	for n := range s.instances {
		change(n, name, program)
		if n == 0 {
			older, newer := &s.instances[1].Desk, &s.instances[0].Desk
			s.agree(older, newer)
			s.agree(newer, older)
		}
	}
}

// agree has one gateway begin what the other goes on with.
func (s *soak) agree(one, other *rig.Desk) {
	t := s.t
	t.Helper()
	s.agreed++
	name := fmt.Sprintf("soak-upgrade-%d", s.agreed)
	token := one.Login(rig.FullKey, "demo")

	contact := fmt.Sprintf(`{"kind":"person","name":%q}`, name)
	created := one.Gets(201, "POST", "/contact", token, contact, "Idempotency-Key", name)
	again := other.Gets(201, "POST", "/contact", token, contact, "Idempotency-Key", name)
	require.Equal(t, created.ID(t), again.ID(t), "a repetition gets the first answer")

	path := fmt.Sprintf("/contact/%d", created.ID(t))
	read := one.Call("GET", path, token, "")
	other.Gets(200, "PUT", path, token, `{"note":"changed"}`, "If-Match", read.Header.Get("ETag"))
	require.Equal(t, 412, one.Call("PUT", path, token, `{"note":"lost"}`, "If-Match", read.Header.Get("ETag")).Status)

	id := s.promise(one, token, name, "")
	s.await(id)
	address := other.Collect(token, id)
	require.Equal(t, 200, one.Download(one.Base+address[len(other.Base):]).Status)

	require.Equal(t, 200, other.Call("GET", "/authenticate/logout", token, "").Status)
	require.Equal(t, 401, one.Call("GET", path, token, "").Status, "a logout holds everywhere")
}

// promise has an order promised, which the ledger holds the service to.
func (s *soak) promise(d *rig.Desk, token, reference, more string) (id string) {
	s.t.Helper()
	s.locked(func() { s.orders[reference] = true })
	body := fmt.Sprintf(rig.NewOrder, 1, fmt.Sprintf(`,"reference":%q,"webhook_url":%q%s`, reference, s.receiver, more))
	id = d.Call("POST", "/order", token, body).Promise(s.t)
	s.locked(func() { s.promised[id] = reference })
	return id
}

// await returns when the receiver was told that a job is done.
func (s *soak) await(id string) {
	s.t.Helper()
	await.True(s.t, func() (heard bool) {
		s.locked(func() { heard = s.heard[id] })
		return heard
	}, "the job %s", id)
}

// newThings uses what is new in the next version while a gateway of this one runs.
func (s *soak) newThings(newer, older *rig.Desk) {
	t := s.t
	t.Helper()
	token := newer.Login(rig.FullKey, "demo")
	const card = `{"kind":"person","name":"Jansen","loyalty_number":"L-1"}`
	contact := newer.Create(token, "contact", card)
	require.Equal(t, 409, newer.Call("POST", "/contact", token, card).Status, "the index keeps it unique")
	newer.Create(token, "loyaltycard", fmt.Sprintf(`{"contact_id":%d}`, contact))

	path := fmt.Sprintf("/contact/%d", contact)
	require.Equal(t, 403, older.Call("POST", "/contact", token, card).Status, "it does not know the field")
	require.Equal(t, 200, older.Call("PUT", path, token, `{"note":"changed"}`).Status)
	require.Equal(t, "L-1", newer.Call("GET", path, token, "").Data(t)["loyalty_number"], "what it does not know it leaves alone")
	for _, d := range []*rig.Desk{newer, older} { // although the older one does not know what refers to it
		refused := d.Gets(406, "DELETE", path, token, "")
		require.Equal(t, "Field: id in use at: loyaltycard", refused.Failure(t).Message)
	}

	// Were it not for what jobs need, one in three would come to the older gateway.
	ids := make([]string, 9)
	for n := range ids {
		ids[n] = s.promise(newer, token, fmt.Sprintf("soak-referred-%d", n), fmt.Sprintf(`,"referrer_id":%d`, contact))
	}
	for _, id := range ids {
		s.await(id)
	}
	conn := rig.Beside(t, s.database)
	var referred int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM "order" WHERE referrer_id = $1`, contact).Scan(&referred))
	require.Equal(t, len(ids), referred)
}
