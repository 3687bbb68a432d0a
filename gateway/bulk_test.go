package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// newArticle is an article of that number.
func newArticle(number string) string {
	return fmt.Sprintf(`{"number":%q,"description":"Filter","article_kind":"part","unit_type":"piece","turnover_group_id":1,"price":12.5}`, number)
}

func recordsOf(records ...string) string { return `{"records":[` + strings.Join(records, ",") + `]}` }

type bulkAnswer struct{ Data []bulkResult }

// many writes several records, which is answered 200.
func (c visitor) many(t testing.TB, method, path, body string, headers ...string) []bulkResult {
	t.Helper()
	a := c.ask(method, path, body, headers...)
	require.Equal(t, 200, a.status, a.body)
	return decode[bulkAnswer](t, a).Data
}

func statusesOf(results []bulkResult) (all []int) {
	for i, r := range results {
		if r.Index != i {
			return nil
		}
		all = append(all, r.Status)
	}
	return all
}

// TestBulkGrants: only who may do the same with one record is told of it. What is refused to whom,
// TestToolsAgreeWithServing draws.
func TestBulkGrants(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, c := range []struct {
		grants []Grant
		want   []string
	}{
		{[]Grant{{"GET", "/article"}, {"POST", "/article"}, {"PUT", "/article"}, {"DELETE", "/article"}}, []string{}},
		{[]Grant{{"POST", "/article/bulk"}}, []string{}},
		{[]Grant{{"POST", "/article/bulk"}, {"PUT", "/article"}, {"PUT", "/article/bulk"}}, []string{"PUT /article/bulk"}},
		{[]Grant{{"POST", "/article"}, {"POST", "/article/bulk"}}, []string{"POST /article/bulk"}},
	} {
		h.setKeys(keyOf(keyAll, "all", c.grants...))
		told := slices.DeleteFunc(h.description(t, keyAll).operations(), func(op string) bool { return !strings.Contains(op, "bulk") })
		require.Equal(t, c.want, told)
		require.Equal(t, len(told), strings.Count(h.as("demo").ask("GET", "/authenticate/acces", "").body, "bulk"), told)
	}
}

// TestBulkArrays: a record has the arrays that a request for it alone may have.
func TestBulkArrays(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const key = "33333333-3333-4333-8333-333333333333"
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), keyOf(key, "some", Grant{"POST", "/order"}, Grant{"POST", "/order/bulk"}, Grant{"PUT", "/order"}, Grant{"PUT", "/order/bulk"}))
	const order = `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01"%s}`
	plain := fmt.Sprintf(order, "")
	lines := fmt.Sprintf(order, `,"orderlines":[{"description":"A","quantity":1,"price":1,"turnover_group_id":1}]`)
	c := visitor{h, h.session(key, "demo")}
	results := c.many(t, "POST", "/order/bulk", recordsOf(plain, lines))
	require.Equal(t, []int{201, 403}, statusesOf(results))
	unknown := []bulkError{{"Field: orderlines not found in model", "field_not_in_model", "orderlines"}}
	require.Equal(t, unknown, results[1].Errors)
	require.Equal(t, unknown, c.many(t, "PUT", "/order/bulk", recordsOf(fmt.Sprintf(`{"id":%d,"orderlines":[{}]}`, results[0].ID)))[0].Errors)
	refused(t, c.ask("POST", "/order/bulk", `{"webhook_url":1,"records":[{}]}`), fault{403, "Field: webhook_url not found in model", mapping.FieldNotInModel, "webhook_url"})
	results = h.as("demo").many(t, "POST", "/order/bulk", recordsOf(plain, lines))
	require.Equal(t, []int{201, 201}, statusesOf(results))
	require.Contains(t, h.as("demo").ask("GET", fmt.Sprintf("/order/%d?fields=orderlines", results[1].ID), "").body, `"description":"A"`)
	results = h.as("demo").many(t, "PUT", "/order/bulk", recordsOf(fmt.Sprintf(`{"id":%d,"orderlines":[{}]}`, results[0].ID)))
	require.Equal(t, []bulkError{{"Cannot update orderlines", "cannot_update", "orderlines"}}, results[0].Errors)
}

// TestBulkCosts: each record counts as a request, and what exceeds the burst is owed.
func TestBulkCosts(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const key = "33333333-3333-4333-8333-333333333333"
	bounded := keyOf(key, "some", Grant{"POST", "/article"}, Grant{"POST", "/article/bulk"})
	bounded.Bounds = auth.Bounds{Rate: auth.Rate{PerSecond: 10, Burst: 20}, PerDay: 1000, Concurrent: 2}
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), bounded)
	c := visitor{h, h.session(key, "demo")}
	a := c.ask("POST", "/article/bulk", recordsOf(strings.Repeat("{},", 4)+"{}"))
	require.Equal(t, 200, a.status)
	require.Regexp(t, `RateLimit: "rate";r=15;t=1, "per_day";r=995;t=\d+, "concurrent";r=1\r\n`, a.header.String())
	require.Equal(t, 200, c.ask("POST", "/article/bulk", recordsOf(strings.Repeat("{},", 114)+"{}")).status)
	a = c.ask("POST", "/article", "{}")
	require.Equal(t, []any{429, "11"}, []any{a.status, a.head("Retry-After")}, "100 and one more are owed")
	require.Equal(t, 403, visitor{h, h.session(key, "other")}.ask("POST", "/article", "{}").status, "by this client alone")
	h.clock.Advance(10*time.Second + 100*time.Millisecond)
	require.Equal(t, 403, c.ask("POST", "/article", "{}").status)
	require.Equal(t, 429, c.ask("POST", "/article", "{}").status)
}

// TestBulkIsExplained as far as the request goes.
func TestBulkIsExplained(t *testing.T) {
	t.Parallel()
	g := tableOnly(t)
	key := keyFor(g, Grant{"POST", "/order"}, Grant{"POST", "/order/bulk"})
	asked := Asked{Method: "POST", Target: "/webservice_v2/order/bulk", Key: key, Body: []byte(recordsOf(`{"orderlines":[{}]}`))}
	e := g.Explain(asked)
	require.Equal(t, []any{"", []string{"POST /orderline"}}, []any{e.Stopped, e.Lacks})
	asked.Body = []byte(`{"record":[]}`)
	e = g.Explain(asked)
	require.Equal(t, []any{StageRecord, 403}, []any{e.Stopped, e.Status})
	asked.Key = keyFor(g, Grant{"POST", "/order/bulk"})
	e = g.Explain(asked)
	require.Equal(t, []any{StageAllowlist, 400, []string{"POST /order"}}, []any{e.Stopped, e.Status, e.Lacks})
	var answer map[string]any
	require.NoError(t, json.Unmarshal(e.Answer, &answer))
	require.Equal(t, "Invalid endpoint: /order/bulk", answer["message"])
}

// TestBulkGroups: elements of arrays count as records do, so that no group keeps others
// waiting for long.
func TestBulkGroups(t *testing.T) {
	t.Parallel()
	line := `{"description":"A"}`
	b := &bulkRun{x: &Exchange{several: &mapping.Several{Records: [][]byte{
		[]byte(`{}`), []byte(`null`), []byte(`{"orderlines":[` + line + `,` + line + `]}`), []byte(`{"orderlines":[` + strings.Repeat(line+",", 9) + line + `]}`), []byte(`{}`),
	}}}}
	b.results = make([]bulkResult, 5)
	var ends []int
	for from := 0; from < 5; {
		from = b.groupFrom(from, 4)
		ends = append(ends, from)
	}
	require.Equal(t, []int{2, 3, 4, 5}, ends)
}
