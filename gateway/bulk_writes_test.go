package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// What becomes of many records whose administration undoes, breaks off, or writes side by side.

// faltering is a driver whose transactions fail from one on, or that breaks off after a
// record was written in one.
type faltering struct {
	backend.Driver
	left  *int // transactions until it fails; below 0 for never
	stale *int // records until one is refused once it was written; below 0 for never
}

func (f faltering) Write(ctx context.Context, do func(backend.Tx) error) error {
	if *f.left == 0 {
		return fmt.Errorf("away")
	}
	*f.left--
	return f.Driver.Write(ctx, func(tx backend.Tx) error {
		atEnd := error(nil)
		if err := do(falteringTx{tx, f, &atEnd}); err != nil {
			return err
		}
		return atEnd
	})
}

func (faltering) Shares(*mapping.Resource, mapping.Scope) bool { return true }

type falteringTx struct {
	backend.Tx
	f     faltering
	atEnd *error // what is found wrong when the transaction ends
}

func (t falteringTx) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	stored, err := t.Tx.Create(ctx, client, rec)
	if strings.HasPrefix(rec.Get("number").Text(), "STALE") && err == nil {
		*t.f.stale++
		return stored, &backend.StaleError{Told: mapping.Fail(mapping.DuplicateValue, mapping.Literal("number"), rec.Get("number").Text()), Err: backend.ErrStale}
	}
	if strings.HasPrefix(rec.Get("number").Text(), "LATE") && err == nil {
		*t.atEnd = mapping.Fail(mapping.DuplicateValue, mapping.Literal("number"), rec.Get("number").Text())
	}
	return stored, err
}

func newFaltering(t testing.TB) (h *fixture, left, stale *int) {
	left, stale = new(int), new(int)
	*left = -1
	return newFixture(t, onDriver(func(h *fixture) backend.Driver { return faltering{h.store, left, stale} })), left, stale
}

// TestBulkWhatIsUndone: what a transaction undoes because of one record is done again
// without it.
func TestBulkWhatIsUndone(t *testing.T) {
	t.Parallel()
	h, _, stale := newFaltering(t)
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
		c := h.as("demo")
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
	require.Less(t, *stale, 2*4*6, "each was tried alone, and not for ever")
}

// TestBulkCutOff: when the administration fails on the way, what was done is told, and a
// repetition under the same key does the rest, once. Where nothing was done, the whole is
// refused.
func TestBulkCutOff(t *testing.T) {
	t.Parallel()
	h, left, _ := newFaltering(t)
	c := h.as("demo")
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
		*left = transactions
		a := c.ask("POST", "/article/bulk", body, "Idempotency-Key", "c")
		*left = -1
		refused(t, a, fault{500, "Internal server error", mapping.BackendUnavailable, ""})
	}
	for _, transactions := range []int{2, 2, 3} {
		*left = transactions
		results := c.many(t, "POST", "/article/bulk", body, "Idempotency-Key", "c")
		*left = -1
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

// abreast is an administration that is written to by several calls at once.
type abreast struct {
	backend.Driver
	parallel int
	meet     chan chan bool // those who have come wait for the others
}

func (a abreast) Capabilities() backend.Capabilities {
	c := a.Driver.Capabilities()
	c.Parallel = a.parallel
	return c
}

func (a abreast) Write(ctx context.Context, do func(backend.Tx) error) error {
	if a.meet != nil {
		met := make(chan bool)
		select {
		case a.meet <- met:
			<-met
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return a.Driver.Write(ctx, do)
}

// TestBulkAbreast: as many as the administration allows are written at once, their results
// come in order, and writes of one record one after the other.
func TestBulkAbreast(t *testing.T) {
	t.Parallel()
	const most = 4
	meet := make(chan chan bool)
	front := func(meet chan chan bool) *fixture {
		return newFixture(t, onDriver(func(h *fixture) backend.Driver { return abreast{h.store, most, meet} }))
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
	results := front(meet).as("demo").many(t, "POST", "/article/bulk", recordsOf(records...))
	require.Equal(t, []int{201, 201, 201, 201, 201, 403, 201, 201, 201, 201}, statusesOf(results))
	require.Equal(t, []int{4, 3, 2}, <-counted)

	c := front(nil).as("demo")
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

// vanishing is an administration that others remove a record of between a look at it and its
// write.
type vanishing struct {
	backend.Driver
	gone *int32
}

func (v vanishing) Write(ctx context.Context, do func(backend.Tx) error) error {
	return v.Driver.Write(ctx, func(tx backend.Tx) error { return do(vanishingTx{tx, v.gone}) })
}

type vanishingTx struct {
	backend.Tx
	gone *int32
}

func (t vanishingTx) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	if before.ID() == *t.gone {
		return mapping.Record{}, backend.ErrNotFound
	}
	return t.Tx.Update(ctx, client, before, patch)
}

func (t vanishingTx) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	if before.ID() == *t.gone {
		return backend.ErrNotFound
	}
	return t.Tx.Delete(ctx, client, before)
}

// TestWritesOfWhatIsGone: before, a record that was gone by its write was an internal error, and
// the records behind it were not tried.
func TestWritesOfWhatIsGone(t *testing.T) {
	t.Parallel()
	gone := new(int32)
	h := newFixture(t, onDriver(func(h *fixture) backend.Driver { return vanishing{h.store, gone} }))
	c := h.as("demo")
	made := c.many(t, "POST", "/article/bulk", recordsOf(newArticle("G-1"), newArticle("G-2"), newArticle("G-3")))
	*gone = made[1].ID
	var records []string
	for i, one := range made {
		records = append(records, fmt.Sprintf(`{"id":%d,"number":"GONE-%d"}`, one.ID, i))
	}
	results := c.many(t, "PUT", "/article/bulk", recordsOf(records...))
	require.Equal(t, []int{200, 404, 200}, statusesOf(results))
	want := fault{404, fmt.Sprintf("Field: id value: %d not found", *gone), mapping.RecordNotFound, "id"}
	require.Equal(t, []bulkError{{want.message, string(want.reason), want.field}}, results[1].Errors)
	path := fmt.Sprint("/article/", *gone)
	refused(t, c.ask("PUT", path, `{"number":"X"}`, "Idempotency-Key", "gone"), want)
	refused(t, c.ask("DELETE", path, ""), want)
	require.Equal(t, 200, c.ask("DELETE", fmt.Sprint("/article/", made[0].ID), "").status)
}
