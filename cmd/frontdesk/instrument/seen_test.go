package instrument

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway"
)

// TestTiesAreTheSum: what a key is told to have been seen with is what an account of all requests
// says, also after a restart.
func TestTiesAreTheSum(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	w := newWalk()
	for range 5000 {
		w.now = w.now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
		method := []string{"GET", "POST"}[random.IntN(2)]
		r := gateway.Answer{
			Status: 200, Method: method, Endpoint: fmt.Sprintf("/r%d", random.IntN(12)), Key: fmt.Sprint("key", random.IntN(5)), Client: fmt.Sprint("client", random.IntN(6)),
			User: fmt.Sprint("user", random.IntN(40)), Address: fmt.Sprint("192.0.2.", random.IntN(3)),
		}
		if random.IntN(3) > 0 {
			r.Grant = method + " " + r.Endpoint
		}
		if random.IntN(5) == 0 {
			r.Needs = []string{"GET /lines", "GET /more"}[:1+random.IntN(2)]
		}
		w.note(r)
	}
	counted := func(want func(*gateway.Answer) bool, names func(*gateway.Answer) []string) map[string]Seen {
		all := map[string]Seen{}
		for i := range w.told {
			if r := &w.told[i]; want(r) {
				for _, name := range names(r) {
					if name != "" {
						all[name] = Seen{name, all[name].Requests + 1, time.Unix(r.At.Unix(), 0)}
					}
				}
			}
		}
		return all
	}
	same := func(want map[string]Seen, is []Seen, what string) {
		t.Helper()
		require.Len(t, is, len(want), what)
		for _, seen := range is {
			require.Equal(t, want[seen.Name], seen, what)
		}
	}
	compare := func(users int) {
		t.Helper()
		for i := range 5 {
			key := fmt.Sprint("key", i)
			of := func(r *gateway.Answer) bool { return r.Key == key }
			is := w.Tied(key)
			require.True(t, is.Whole)
			same(counted(of, func(r *gateway.Answer) []string { return append([]string{r.Grant}, r.Needs...) }), is.With[Grants], key)
			same(counted(of, func(r *gateway.Answer) []string { return []string{r.Client} }), is.With[Clients], key)
			same(counted(of, func(r *gateway.Answer) []string { return []string{r.Address} }), is.With[Addresses], key)
			if require.Len(t, is.With[Users], users); users == 0 {
				continue
			}
			last := slices.MaxFunc(is.With[Users], func(a, b Seen) int { return a.Last.Compare(b.Last) }).Last
			for _, r := range slices.Backward(w.told) {
				if of(&r) {
					require.Equal(t, r.At.Unix(), last.Unix(), "the last is among those that are kept")
					break
				}
			}
		}
		using := w.KeysWith(Grants, "GET /lines")
		require.Len(t, using, 5)
		for key, seen := range using {
			of := func(r *gateway.Answer) bool { return r.Key == key && slices.Contains(r.Needs, "GET /lines") }
			require.EqualValues(t, counted(of, func(*gateway.Answer) []string { return []string{"n"} })["n"].Requests, seen.Requests)
		}
	}
	compare(MostSeen)
	require.Equal(t, began.Unix(), w.Tied("nobody").Since.Unix())

	w.restart(t)
	w.now = w.now.Add(time.Hour)
	require.Equal(t, began.Unix(), w.Tied("nobody").Since.Unix(), "it goes on counting")
	compare(0) // whose names are in no file

	w.now = w.now.Add(seenKept)
	w.restart(t)
	require.Empty(t, w.Tied("key1").With[Grants], "of that long ago nobody asks")
	require.Equal(t, w.now.Add(-seenKept).Unix(), w.Tied("key1").Since.Unix(), "and nothing is said of it")
}

// TestTiesAreBounded: what does not fit is not counted, and it is said that there is more.
func TestTiesAreBounded(t *testing.T) {
	w := newWalk()
	for i := range mostKeys {
		w.note(gateway.Answer{Status: 200, Key: fmt.Sprint("key", i), Grant: "GET /order"})
	}
	require.True(t, w.Tied("key1").Whole)
	w.note(gateway.Answer{Status: 200, Key: "another", Grant: "GET /order"})
	require.False(t, w.Tied("key1").Whole)
	require.Empty(t, w.Tied("another").With[Grants])
	w.restart(t)
	require.False(t, w.Tied("key1").Whole, "after a restart neither")
	w.now = w.now.Add(seenKept + time.Second)
	require.True(t, w.Tied("key1").Whole, "what was not counted then is too long ago")

	w = newWalk()
	for i := range mostTies + 10 {
		w.note(gateway.Answer{Status: 200, Key: "key", Client: "client", Grant: fmt.Sprint("GET /r", i), Address: fmt.Sprint(i)})
	}
	require.Len(t, w.Tied("key").With[Addresses], MostSeen)
	require.Len(t, w.Tied("key").With[Grants], mostTies-MostSeen-1)
	require.False(t, w.Tied("key").Whole)
}
