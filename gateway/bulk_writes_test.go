package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

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
		err = &backend.StaleError{Told: duplicate, Err: backend.ErrStale}
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
