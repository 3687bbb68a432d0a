package bounds

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// asking notes what the administration is asked for.
type asking struct {
	rig.FullDriver
	mu    *sync.Mutex
	lists *[]backend.Query
}

func (a asking) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	a.mu.Lock()
	*a.lists = append(*a.lists, q)
	a.mu.Unlock()
	return a.FullDriver.List(ctx, r, q)
}

// TestRepetitionCostsNothing: a request that says the same a thousand times has it done
// once, and what is wrong in it a thousand times and more is told a thousand times.
func TestRepetitionCostsNothing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lists []backend.Query
	d := rig.OnSQLite(t, rig.Options{Wrap: func(driver backend.Driver) backend.Driver {
		return asking{FullDriver: driver.(rig.FullDriver), mu: &mu, lists: &lists}
	}})
	token := d.Login(rig.FullKey, "demo")
	const times = 700
	many := func(text string) string { return strings.Repeat(text+",", times) + text }
	asked := func(path string) (rig.Answer, backend.Query) {
		t.Helper()
		lists = nil
		a := d.Gets(200, "GET", path, token, "")
		require.Len(t, lists, 1, "asked once")
		return a, lists[0]
	}
	once, _ := asked("/order?fields=id,number&sort=-number,kind&page_size=50")
	again, query := asked("/order?fields=" + many("id,number") + "&sort=-number," + strings.Repeat("kind,", times) + "kind&page_size=50")
	require.Len(t, query.Sort, 2)
	require.Len(t, query.Fields, 2)
	require.Equal(t, dataOf(once), dataOf(again))
	one := d.Call("GET", "/order/1?fields=orderlines", token, "")
	require.Equal(t, string(one.Body), string(d.Call("GET", "/order/1?fields="+many("orderlines"), token, "").Body))

	d.Call("GET", "/order?number=1&number=1", token, "").Refused(t, 400, "Invalid request, query parameter is provided more than once: number", "a filter twice")
	d.Call("POST", "/contact", token, `{"kind":"person","name":"a","name":"b"}`).Refused(t, 400, "Body is not valid JSON", "a member twice")
	lines := strings.Repeat(rig.LineOfOrder+",", mapping.MaxElements) + rig.LineOfOrder
	d.Call("POST", "/order", token, rig.BareOrder+`,"orderlines":[`+lines+"]}").Refused(t, 413, "Body is too large", "lines without an end")
	var members strings.Builder
	for n := range mapping.MaxMembers - 1 {
		fmt.Fprintf(&members, `"m%d":1,`, n)
	}
	for _, wrong := range []rig.Answer{
		d.Call("GET", "/order?fields="+strings.Repeat("x,", 7000), token, ""),
		d.Call("GET", "/order?sort="+strings.Repeat("x,", 7000), token, ""),
		d.Call("GET", "/order/1?fields="+strings.Repeat("x,", 7000), token, ""),
		d.Call("POST", "/contact", token, "{"+members.String()+`"m":1}`),
	} {
		require.Equal(t, 403, wrong.Status)
		require.Len(t, wrong.Failure(t).Errors, mapping.MaxViolations)
	}
}

// dataOf is the records of a page, without the address of the next, which repeats what was
// asked.
func dataOf(a rig.Answer) string {
	data, _, _ := strings.Cut(string(a.Body), `"page":`)
	return data
}
