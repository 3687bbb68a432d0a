package records

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
)

// attempt is an order that a client sent, and what it was told.
type attempt struct {
	reference string   // which no other order has
	headers   []string // an Idempotency-Key, or none
	body      string
	lines     int
	answer    rig.Answer // Status 0 where none came
}

func newAttempt(random *rand.Rand, reference string, n, contact, group int) *attempt {
	a := &attempt{reference: reference, lines: random.IntN(5)}
	if n%2 == 0 {
		a.headers = []string{"Idempotency-Key", "kill-" + reference}
	}
	var lines []string
	for i := range a.lines {
		lines = append(lines, fmt.Sprintf(`{"description":"Line %d","quantity":%d,"price":12.95,"turnover_group_id":%d}`, i, i+1, group))
	}
	extra := fmt.Sprintf(`,"reference":%q`, reference)
	if a.lines > 0 {
		extra += `,"orderlines":[` + strings.Join(lines, ",") + `]`
	}
	a.body = fmt.Sprintf(rig.NewOrder, contact, extra)
	return a
}

// killRun is a database that frontdesk is killed on, over and over.
type killRun struct {
	t      *testing.T
	dsn    string
	random *rand.Rand
	orders map[string]bool // the numbers of all orders that were answered
}

// TestKill kills the program with kill -9 while clients create orders, starts
// it again and looks for every record that it had answered.
func TestKill(t *testing.T) {
	t.Parallel()
	for i, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			rounds := 2 - i
			if sqltest.Soak() {
				rounds = 50
			}
			seed := sqltest.Seed(t)
			run := &killRun{t: t, dsn: engine.DSN(t), random: rand.New(rand.NewPCG(seed, seed)), orders: map[string]bool{}}
			for round := range rounds {
				run.check(round, run.untilKilled(round))
				run.integrity()
			}
		})
	}
}

// untilKilled lets eight clients create orders until the program is killed, at
// a moment that none of them chose.
func (k *killRun) untilKilled(round int) (all []*attempt) {
	k.t.Helper()
	c := rig.StartChild(k.t, rig.Options{DSN: k.dsn})
	token := c.Login(rig.FullKey, "demo")
	contact := c.Create(token, "contact", rig.NewContact)
	group := int(c.List(token, "/turnovergroup?page_size=1000")[0]["id"].(float64))
	const clients = 8
	var left atomic.Int64 // answers
	left.Store(int64(clients + k.random.IntN(250)))
	attempts := make([][]*attempt, clients)
	var end sync.WaitGroup
	for client := range clients {
		random := rand.New(rand.NewPCG(k.random.Uint64(), uint64(client)))
		end.Go(func() {
			for n := 0; ; n++ {
				a := newAttempt(random, fmt.Sprintf("R%d-%d-%d", round, client, n), n, contact, group)
				attempts[client] = append(attempts[client], a)
				got, err := c.Try("POST", "/order", token, a.body, a.headers...)
				if err != nil {
					return // it is dead
				}
				if a.answer = got; left.Add(-1) == 0 {
					go c.Kill()
				}
			}
		})
	}
	end.Wait()
	c.Kill() // again, to wait for the end of what was asked
	return slices.Concat(attempts...)
}

// check starts the program again and compares.
func (k *killRun) check(round int, attempts []*attempt) {
	t := k.t
	t.Helper()
	c := rig.StartChild(t, rig.Options{DSN: k.dsn})
	token := c.Login(rig.FullKey, "demo")
	var answered, unanswered, stored int
	for _, a := range attempts {
		found := c.List(token, "/order?reference="+a.reference)
		require.LessOrEqual(t, len(found), 1, "%s is there twice", a.reference)
		if a.answer.Status == 0 {
			unanswered++
			stored += len(found)
		} else {
			require.Equal(t, 201, a.answer.Status, "%s", a.answer.Body)
			require.Len(t, found, 1, "%s was answered and is gone", a.reference)
			require.Equal(t, a.answer.Data(t), found[0])
			require.False(t, k.orders[found[0]["number"].(string)], "number %v was given twice", found[0]["number"])
			answered++
		}
		for _, order := range found {
			k.orders[order["number"].(string)] = true
			k.wholeOrder(c, token, a, order)
		}
		if a.headers == nil {
			continue
		}
		again := c.Gets(201, "POST", "/order", token, a.body, a.headers...)
		require.Equal(t, len(found) == 1, again.Header.Get("Idempotent-Replayed") == "true", "%s", a.reference)
		if a.answer.Status != 0 {
			require.Equal(t, string(a.answer.Body), string(again.Body))
			require.Equal(t, a.answer.Header.Get("Location"), again.Header.Get("Location"))
		}
		after := c.List(token, "/order?reference="+a.reference)
		require.Len(t, after, 1)
		k.orders[after[0]["number"].(string)] = true
	}
	// The counter has not fallen behind.
	number := c.Call("POST", "/order", token, fmt.Sprintf(rig.NewOrder, 1, "")).Data(t)["number"].(string)
	require.False(t, k.orders[number], "number %s was given twice", number)
	k.orders[number] = true
	t.Logf("round %d: %d answered, of %d others %d were stored", round+1, answered, unanswered, stored)
	c.Kill()
}

// wholeOrder checks that an order has all its lines, and their sum.
func (k *killRun) wholeOrder(c *rig.Child, token string, a *attempt, order map[string]any) {
	k.t.Helper()
	id := int(order["id"].(float64))
	lines := c.List(token, fmt.Sprintf("/orderline?order_id=%d", id))
	require.Len(k.t, lines, a.lines, "%s", a.reference)
	cents := 0
	for i := range a.lines {
		cents += 1295 * (i + 1)
	}
	require.InDelta(k.t, float64(cents)/100, order["total_excl"], 0.001)
	whole := c.Call("GET", fmt.Sprintf("/order/%d?fields=orderlines", id), token, "").Data(k.t)
	require.Len(k.t, whole["orderlines"], a.lines, "%v", whole)
}

// integrity judges the database itself, while nothing has it open.
func (k *killRun) integrity() {
	k.t.Helper()
	const orphans = `SELECT count(*) FROM orderline l WHERE NOT EXISTS (SELECT 1 FROM "order" o WHERE o.id = l.order_id)`
	path, ok := strings.CutPrefix(k.dsn, "sqlite:")
	if !ok {
		var n int
		require.NoError(k.t, rig.Beside(k.t, k.dsn).QueryRow(k.t.Context(), orphans).Scan(&n))
		require.Zero(k.t, n)
		return
	}
	require.Equal(k.t, []string{"ok"}, rig.AskSQLite(k.t, path, "PRAGMA integrity_check"))
	require.Empty(k.t, rig.AskSQLite(k.t, path, "PRAGMA foreign_key_check"))
	require.Equal(k.t, []string{"0"}, rig.AskSQLite(k.t, path, orphans))
}
