package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
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
	asked := Hypothetical{Method: "POST", Target: "/webservice_v2/order/bulk", Key: key, Body: []byte(recordsOf(`{"orderlines":[{}]}`))}
	e := g.Explain(asked)
	require.Equal(t, []any{"", []string{"POST /orderline"}}, []any{e.Stopped, e.Lacks})
	asked.Body = []byte(`{"record":[]}`)
	e = g.Explain(asked)
	require.Equal(t, []any{StageRecord, 403}, []any{e.Stopped, e.Status})
	asked.Key = keyFor(g, Grant{"POST", "/order/bulk"})
	e = g.Explain(asked)
	require.Equal(t, []any{StageAllowlist, 400, []string{"POST /order"}}, []any{e.Stopped, e.Status, e.Lacks})
	answer := must.JSON[map[string]any](t, e.Answer)
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
		from = b.groupEnd(from, 4)
		ends = append(ends, from)
	}
	require.Equal(t, []int{2, 3, 4, 5}, ends)
}

// What becomes of many records whose administration undoes, breaks off, or writes side by side.

// bent is a driver that a test has wait, fail, or find wrong what it wrote: an article whose
// number begins with STALE at once, with LATE as the transaction ends.
type bent struct {
	backend.Driver
	parallel int                         // calls that may write at once; 0 where one writes several records
	begin    func(context.Context) error // before a transaction, if set
	stale    int                         // how often STALE was found
	gone     int32                       // a record that others remove between a look at it and its write
}

func newBent(t testing.TB, b *bent) *fixture {
	return newFixture(t, onDriver(func(h *fixture) backend.Driver {
		b.Driver = h.store
		return b
	}))
}

func (b *bent) Capabilities() backend.Capabilities {
	c := b.Driver.Capabilities()
	c.Parallel = b.parallel
	return c
}

func (b *bent) Shares(*mapping.Resource, mapping.Scope) bool { return b.parallel == 0 }

func (b *bent) Write(ctx context.Context, do func(backend.Tx) error) error {
	if b.begin != nil {
		if err := b.begin(ctx); err != nil {
			return err
		}
	}
	return b.Driver.Write(ctx, func(tx backend.Tx) error {
		bends := &bentTx{Tx: tx, b: b}
		if err := do(bends); err != nil {
			return err
		}
		return bends.atEnd
	})
}

type bentTx struct {
	backend.Tx
	b     *bent
	atEnd error
}

func (t *bentTx) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	stored, err := t.Tx.Create(ctx, client, rec)
	number := rec.Get("number").Text()
	duplicate := mapping.Fail(mapping.DuplicateValue, mapping.Literal("number"), number)
	switch {
	case err != nil:
	case strings.HasPrefix(number, "STALE"):
		t.b.stale++
		err = &backend.StaleError{Fallback: duplicate, Err: backend.ErrStale}
	case strings.HasPrefix(number, "LATE"):
		t.atEnd = duplicate
	}
	return stored, err
}

func (t *bentTx) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	if before.ID() == t.b.gone {
		return mapping.Record{}, backend.ErrNotFound
	}
	return t.Tx.Update(ctx, client, before, patch)
}

func (t *bentTx) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	if before.ID() == t.b.gone {
		return backend.ErrNotFound
	}
	return t.Tx.Delete(ctx, client, before)
}

// TestBulkWhatIsUndone: what a transaction undoes because of one record is done again
// without it.
func TestBulkWhatIsUndone(t *testing.T) {
	t.Parallel()
	undoing := new(bent)
	c := newBent(t, undoing).as("demo")
	for _, key := range []string{"", "k"} {
		var records []string
		var want []int
		for i := range 150 {
			number, status := fmt.Sprintf("U%s-%d", key, i), 201
			switch {
			case i%40 == 7:
				number, status = "STALE"+number, 409
			case i%60 == 21:
				number, status = "LATE"+number, 409
			}
			records, want = append(records, newArticle(number)), append(want, status)
		}
		var headers []string
		if key != "" {
			headers = []string{"Idempotency-Key", key}
		}
		results := c.many(t, "POST", "/article/bulk", recordsOf(records...), headers...)
		require.Equal(t, want, statusesOf(results))
		require.Contains(t, c.ask("GET", "/article?page_size=1&total=1&sort=-id", "").body, fmt.Sprintf("U%s-149", key))
		require.Contains(t, c.ask("GET", "/article?number=STALEU"+key+"-7", "").body, `"data":[]`)
		ids := map[int32]bool{}
		for _, r := range results {
			require.True(t, r.Status != 201 || !ids[r.ID])
			ids[r.ID] = true
		}
	}
	require.Less(t, undoing.stale, 2*4*6, "each was tried alone, and not for ever")
}

// TestBulkCutOff: when the administration fails on the way, what was done is told, and a
// repetition under the same key does the rest, once. Where nothing was done, the whole is
// refused.
func TestBulkCutOff(t *testing.T) {
	t.Parallel()
	left := -1 // transactions until it fails; below 0 for never
	c := newBent(t, &bent{begin: func(context.Context) error {
		if left == 0 {
			return errors.New("away")
		}
		left--
		return nil
	}}).as("demo")
	count := func(prefix string) (n int) {
		a := decode[struct{ Data []struct{ Number string } }](t, c.ask("GET", "/article?page_size=1000&fields=number", ""))
		for _, article := range a.Data {
			if strings.HasPrefix(article.Number, prefix) {
				n++
			}
		}
		return n
	}
	var records []string
	for i := range 200 {
		records = append(records, newArticle(fmt.Sprint("C-", i)))
	}
	body := recordsOf(records...)
	for _, transactions := range []int{0, 1} { // the first one recalls
		left = transactions
		a := c.ask("POST", "/article/bulk", body, "Idempotency-Key", "c")
		left = -1
		refused(t, a, fault{500, "Internal server error", mapping.BackendUnavailable, ""})
	}
	for _, transactions := range []int{2, 2, 3} {
		left = transactions
		results := c.many(t, "POST", "/article/bulk", body, "Idempotency-Key", "c")
		left = -1
		failed := 0
		for i, r := range results {
			require.Equal(t, i, r.Index)
			if r.Status == 500 {
				failed++
				require.Equal(t, []bulkError{{"Internal server error", "backend_unavailable", ""}}, r.Errors)
			}
		}
		require.Equal(t, backend.MostTogether*(transactions-1), len(records)-failed)
		require.Equal(t, len(records)-failed, count("C-"))
	}
	results := c.many(t, "POST", "/article/bulk", body, "Idempotency-Key", "c")
	for _, r := range results {
		require.Equal(t, 201, r.Status)
	}
	require.Equal(t, 200, count("C-"))
	require.Equal(t, "true", c.ask("POST", "/article/bulk", body, "Idempotency-Key", "c").head("Idempotent-Replayed"))
}

// TestBulkAbreast: as many as the administration allows are written at once, their results
// come in order, and writes of one record one after the other.
func TestBulkAbreast(t *testing.T) {
	t.Parallel()
	const most = 4
	meet := make(chan chan bool) // those who have come wait for the others
	waits := func(ctx context.Context) error {
		met := make(chan bool)
		select {
		case meet <- met:
			<-met
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	counted := make(chan []int)
	go func() {
		var together []int
		for _, n := range []int{most, most - 1, 2} { // one of them is refused before it is written
			var all []chan bool
			for range n {
				all = append(all, <-meet)
			}
			for _, met := range all {
				close(met)
			}
			together = append(together, n)
		}
		counted <- together
	}()
	var records []string
	for i := range 10 {
		records = append(records, newArticle(fmt.Sprint("A-", i)))
	}
	records[5] = `{"number":5}`
	results := newBent(t, &bent{parallel: most, begin: waits}).as("demo").many(t, "POST", "/article/bulk", recordsOf(records...))
	require.Equal(t, []int{201, 201, 201, 201, 201, 403, 201, 201, 201, 201}, statusesOf(results))
	require.Equal(t, []int{4, 3, 2}, <-counted)

	c := newBent(t, &bent{parallel: most}).as("demo")
	records = nil
	for i := range 20 {
		records = append(records, fmt.Sprintf(`{"id":%d,"description":"%d"}`, i%2+1, i))
	}
	for _, status := range statusesOf(c.many(t, "PUT", "/article/bulk", recordsOf(records...), "Idempotency-Key", "k")) {
		require.Equal(t, 200, status)
	}
	for id, want := range map[int]string{1: "18", 2: "19"} {
		require.Contains(t, c.ask("GET", fmt.Sprint("/article/", id), "").body, `"description":"`+want+`"`)
	}
	require.Equal(t, "true", c.ask("PUT", "/article/bulk", recordsOf(records...), "Idempotency-Key", "k").head("Idempotent-Replayed"))
}

// TestWritesOfWhatIsGone: before, a record that was gone by its write was an internal error, and
// the records behind it were not tried.
func TestWritesOfWhatIsGone(t *testing.T) {
	t.Parallel()
	others := &bent{parallel: 1}
	c := newBent(t, others).as("demo")
	made := c.many(t, "POST", "/article/bulk", recordsOf(newArticle("G-1"), newArticle("G-2"), newArticle("G-3")))
	others.gone = made[1].ID
	var records []string
	for i, one := range made {
		records = append(records, fmt.Sprintf(`{"id":%d,"number":"GONE-%d"}`, one.ID, i))
	}
	results := c.many(t, "PUT", "/article/bulk", recordsOf(records...))
	require.Equal(t, []int{200, 404, 200}, statusesOf(results))
	want := fault{404, fmt.Sprintf("Field: id value: %d not found", others.gone), mapping.RecordNotFound, "id"}
	require.Equal(t, []bulkError{{want.message, string(want.reason), want.field}}, results[1].Errors)
	path := fmt.Sprint("/article/", others.gone)
	refused(t, c.ask("PUT", path, `{"number":"X"}`, "Idempotency-Key", "gone"), want)
	refused(t, c.ask("DELETE", path, ""), want)
	require.Equal(t, 200, c.ask("DELETE", fmt.Sprint("/article/", made[0].ID), "").status)
}
