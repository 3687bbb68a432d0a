package records

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// bulkResult is what became of one of many records.
type bulkResult struct {
	Index, Status, ID int
	Errors            []struct{ Message, Reason, Field string }
}

func bulkResults(t testing.TB, a rig.Answer) (all []bulkResult) {
	t.Helper()
	require.Equal(t, 200, a.Status, "%s", a.Body)
	answer := must.JSON[struct{ Data []bulkResult }](t, a.Body)
	for i, r := range answer.Data {
		require.Equal(t, i, r.Index)
	}
	return answer.Data
}

func article(number string) string {
	return fmt.Sprintf(`{"number":%q,"description":"Filter","article_kind":"part","unit_type":"piece","turnover_group_id":1,"price":12.5}`, number)
}

func manyArticles(prefix string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = article(fmt.Sprint(prefix, i))
	}
	return records(all...)
}

func records(all ...string) string { return `{"records":[` + strings.Join(all, ",") + `]}` }

// raceBulk has clients write the same articles at the same time, many at once: each is there once, and
// everybody hears for each of theirs whether it was them.
func raceBulk(t *testing.T, d *rig.Desk, token string) {
	const bulks, articles = 4, 200
	requests := slices.Repeat([]rig.Rival{{Method: "POST", Path: "/article/bulk", Body: manyArticles("S", articles)}}, bulks)
	written := make([]int, articles)
	for _, a := range d.SideBySide(token, requests) {
		for i, r := range bulkResults(t, a) {
			if r.Status == 201 {
				written[i]++
				continue
			}
			require.Equal(t, "duplicate_value", r.Errors[0].Reason, "%v", r)
		}
	}
	require.Equal(t, slices.Repeat([]int{1}, articles), written)
}

// TestBulkIsOneByOne writes random records of all kinds, wrong ones among them, many at once
// and, in another database, one by one: each is answered alike, and the same records are there.
func TestBulkIsOneByOne(t *testing.T) {
	t.Parallel()
	rounds, size := 2, 30
	if sqltest.Soak() {
		rounds, size = 60, 200
	}
	for _, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			var both [2]*twin
			for i := range both {
				d := rig.Start(t, rig.Options{DSN: engine.DSN(t)})
				both[i] = &twin{Desk: d, token: d.Login(rig.FullKey, "demo"), made: map[string][]int{}}
			}
			seed := sqltest.Seed(t)
			random := rand.New(rand.NewPCG(seed, seed))
			statuses := map[int]int{}
			for range rounds {
				for _, kind := range bulkKinds {
					of, method := kind.resource, []string{"POST", "POST", "PUT"}[random.IntN(3)]
					var drawn []drawnRecord
					for range size {
						drawn = append(drawn, drawnRecord{text: kind.draw(random), at: random.IntN(size), twice: random.IntN(8) == 0})
					}
					results := bulkResults(t, both[0].Call(method, "/"+of+"/bulk", both[0].token, records(both[0].bodies(of, method, drawn)...)))
					for i, body := range both[1].bodies(of, method, drawn) {
						a := both[1].Call(method, "/"+of, both[1].token, body)
						require.Equal(t, a.Status, results[i].Status, "%s of %s: %s, and many at once: %+v", method, body, a.Body, results[i])
						statuses[a.Status]++
						if a.Status < 300 {
							if method == "POST" {
								both[0].made[of], both[1].made[of] = append(both[0].made[of], results[i].ID), append(both[1].made[of], int(a.Data(t)["id"].(float64)))
							}
							continue
						}
						require.Equal(t, both[1].told(a.Failure(t).Message), both[0].told(results[i].Errors[0].Message))
					}
				}
			}
			for of, ids := range both[0].made {
				for i, id := range ids {
					require.Equal(t, both[1].record(of, both[1].made[of][i]), both[0].record(of, id), "%s %d", of, id)
				}
			}
			t.Logf("answers by status: %v", statuses)
		})
	}
}

// twin is one of two desks that are to have the same records.
type twin struct {
	*rig.Desk
	token string
	made  map[string][]int // IDs, in one order on both
}

// drawnRecord is a record that both get; $contact and the like stand for a record that was
// made before.
type drawnRecord struct {
	text  string
	at    int
	twice bool // the record of the one before is changed again
}

var bulkKinds = []struct {
	resource string
	draw     func(*rand.Rand) string
}{
	{"contact", func(r *rand.Rand) string {
		return fmt.Sprintf(`{"kind":%q,"name":"Name %d","payment_days":%d}`, []string{"person", "company", "nobody"}[min(2, r.IntN(12)/5)], r.IntN(50), r.IntN(90))
	}},
	{"article", func(r *rand.Rand) string {
		return strings.Replace(article(fmt.Sprint("B", r.IntN(150))), `"turnover_group_id":1`, fmt.Sprintf(`"turnover_group_id":%d,"supplier_id":%s`, 1+r.IntN(2)*r.IntN(2)*998, []string{"null", "$contact", "999999"}[min(2, r.IntN(20)/9)]), 1)
	}},
	{"contactcommunication", func(r *rand.Rand) string {
		return fmt.Sprintf(`{"contact_id":$contact,"type":%d,"value":"a%d@example.nl","is_prefered_email":%d}`, 3+r.IntN(2), r.IntN(9), r.IntN(2))
	}},
	{"vehicle", func(r *rand.Rand) string {
		return fmt.Sprintf(`{"license_plate":%q,"brand":"Opel","model":"Astra","country_id":%s}`, fmt.Sprintf([]string{"GT-%03d-B", "gt%03db", "nonsense %d"}[min(2, r.IntN(12)/5)], r.IntN(150)), []string{"null", "1", "2"}[r.IntN(3)])
	}},
	{"order", func(r *rand.Rand) string {
		return fmt.Sprintf(rig.NewOrder, 424242, fmt.Sprintf(`,"orderlines":[{"description":"Line","quantity":%d,"price":12.95,"turnover_group_id":%d}]`, r.IntN(5), 1+r.IntN(3)))
	}},
	{"orderline", func(r *rand.Rand) string {
		return fmt.Sprintf(`{"order_id":$order,"description":"Line","quantity":%d,"price":1.95,"turnover_group_id":1}`, r.IntN(5))
	}},
}

// bodies are those of drawn records for this desk.
func (w *twin) bodies(of, method string, drawn []drawnRecord) (all []string) {
	pick := func(resource string, at int) string {
		if ids := w.made[resource]; len(ids) > 0 {
			return fmt.Sprint(ids[at%len(ids)])
		}
		return "1"
	}
	for i, one := range drawn {
		text := strings.NewReplacer("$contact", pick("contact", one.at), "424242", pick("contact", one.at), "$order", pick("order", one.at)).Replace(one.text)
		if method == "PUT" {
			at := one.at
			if one.twice && i > 0 {
				at = drawn[i-1].at
			}
			text = strings.Replace(text, "{", `{"id":`+pick(of, at)+",", 1)
		}
		all = append(all, text)
	}
	return all
}

// told is a message without the IDs of this desk.
func (w *twin) told(message string) string {
	return regexp.MustCompile(`value: \d+`).ReplaceAllString(message, "value: N")
}

// record is a record without what differs between two desks.
func (w *twin) record(of string, id int) map[string]any {
	rec := w.Call("GET", fmt.Sprint("/", of, "/", id), w.token, "").Data(w.T)
	for name := range rec {
		if name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_at") {
			delete(rec, name)
		}
	}
	return rec
}

// TestBulkKill kills the program with kill -9 in the middle of many records, and repeats
// the request under the same Idempotency-Key: nothing is done twice, nothing is lost.
func TestBulkKill(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		t.Parallel()
		bulkKill(t, rig.Options{DSN: dsn}, "demo", "demo", func(i int) string { return article(fmt.Sprint("K", i)) }, "article", "number", "K")
	})
	t.Run("legacy", func(t *testing.T) {
		t.Parallel()
		contact := func(i int) string { return fmt.Sprintf(`{"kind":"person","name":"K%d"}`, i) }
		bulkKill(t, rig.DealerPak(t, "postgres", legacytest.Postgres(t)), "sanne.bos", "Welkom01", contact, "contact", "name", "K")
	})
}

func bulkKill(t *testing.T, o rig.Options, username, password string, record func(int) string, resource, field, prefix string) {
	const rounds, size = 3, 300
	had := 0 // before the round
	for round := range rounds {
		all := make([]string, size)
		for i := range all {
			all[i] = record(round*size + i)
		}
		body, key := records(all...), fmt.Sprint("kill-", round)
		c := rig.StartChild(t, o)
		token := c.LoginAs(rig.FullKey, username, password)
		answered := make(chan error, 1)
		go func() {
			_, err := c.Try("POST", "/"+resource+"/bulk", token, body, "Idempotency-Key", key)
			answered <- err
		}()
		// It is killed once it has begun, or was refused all, which has to be done by what follows.
		first := fmt.Sprintf("/%s?%s=%s%d", resource, field, prefix, round*size+rand.IntN(2)*size/3)
		for len(answered) == 0 && len(c.List(token, first)) == 0 {
			continue
		}
		c.Kill()
		<-answered

		c = rig.StartChild(t, o)
		token = c.LoginAs(rig.FullKey, username, password)
		before := there(c, token, resource, field, prefix) - had
		again := func() rig.Answer {
			return c.Call("POST", "/"+resource+"/bulk", token, body, "Idempotency-Key", key)
		}
		results := bulkResults(t, again())
		for left := size + 1; undone(results) > 0; results = bulkResults(t, again()) { // it took longer than a direct answer may
			require.Less(t, undone(results), left, "it does not go on: %+v", results)
			left = undone(results)
		}
		ids := map[int]bool{}
		unclear := 0
		for i, r := range results {
			if r.Status == 409 { // of a database without a table for answers: it was just being written
				require.Equal(t, "idempotency_key_in_use", r.Errors[0].Reason, "%d: %v", i, r)
				unclear++
				continue
			}
			require.Equal(t, 201, r.Status, "%d: %v", i, r)
			require.False(t, ids[r.ID])
			ids[r.ID] = true
		}
		require.LessOrEqual(t, unclear, 1)
		now := there(c, token, resource, field, prefix) - had
		require.InDelta(t, size, now, float64(unclear))
		require.Equal(t, string(again().Body), string(again().Body))
		require.Equal(t, now, there(c, token, resource, field, prefix)-had)
		had += now
		t.Logf("round %d: %d of %d were there after the kill, %d unclear", round, before, size, unclear)
		c.Kill()
	}
}

// undone counts the records that are still to be written.
func undone(all []bulkResult) (n int) {
	for _, r := range all {
		if r.Status == 500 {
			n++
		}
	}
	return n
}

// there counts the records that a test has written.
func there(c *rig.Child, token, resource, field, prefix string) (n int) {
	seen := map[string]bool{}
	after := 0
	for {
		page := c.List(token, fmt.Sprintf("/%s?page_size=1000&fields=id,%s&after=%d", resource, field, after))
		for _, rec := range page {
			after = int(rec["id"].(float64))
			value, _ := rec[field].(string)
			if rest, ok := strings.CutPrefix(value, prefix); ok && strings.Trim(rest, "0123456789") == "" {
				require.False(c.T, seen[value], "%s is there twice", value)
				seen[value] = true
				n++
			}
		}
		if len(page) < 1000 {
			return n
		}
	}
}
