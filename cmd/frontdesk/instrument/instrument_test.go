package instrument

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway"
)

// began is at the beginning of a minute, so that spans begin where steps do.
var began = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

// walk is an instrument beside the list of all that it was told.
type walk struct {
	*Instrument
	now  time.Time
	told []gateway.Answer
}

func newWalk() *walk {
	w := &walk{now: began}
	w.again()
	return w
}

// again has another process begin.
func (w *walk) again() { w.Instrument = New(func() time.Time { return w.now }) }

// restart has another process go on with what this one saved.
func (w *walk) restart(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, w.Save(file))
	w.again()
	require.NoError(t, w.Load(file))
}

func (w *walk) note(a gateway.Answer) {
	a.At = w.now
	w.told = append(w.told, a)
	w.Answered(a)
}

// pass lets time pass, with the looks that are taken meanwhile.
func (w *walk) pass(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(min(end.Sub(w.now), Short))
		w.Take(Levels{Connections: 7})
	}
}

func (w *walk) view(span Span) *View {
	v := NewView(span, w.now)
	minutes, steps := w.Steps(v.At)
	v.Add(minutes)
	v.Add(steps)
	return v
}

// requirePoints holds a series to what was told of the requests that want lets through.
func (w *walk) requirePoints(t *testing.T, span Span, s *Series, timed bool, want func(*gateway.Answer) bool, what string) {
	t.Helper()
	points, took := make([][3]uint32, span.Points), map[[2]int64][]time.Duration{}
	since := span.Since(w.now).Unix()
	slowest := make([]float64, span.Points)
	for i := range w.told {
		a := &w.told[i]
		at := (a.At.Unix() - since) / int64(span.Step/time.Second)
		if a.At.Unix() < since || !want(a) {
			continue
		}
		points[at][0]++
		switch fateOf(a.Status) {
		case refused:
			points[at][1]++
		case failed:
			points[at][2]++
		}
		step := [2]int64{at, stepOf(a.At)}
		took[step] = append(took[step], a.Took)
	}
	for step, all := range took { // of steps taken together the slowest
		slices.Sort(all)
		slowest[step[0]] = max(slowest[step[0]], all[(len(all)*95+99)/100-1].Seconds())
	}
	for i, p := range s.Points {
		require.Equal(t, points[i], [3]uint32{p.Requests, p.Refused, p.Failed}, "%s, point %d", what, i)
		if timed {
			require.GreaterOrEqual(t, float64(p.Percentiles[1]), slowest[i]*.9999, "%s, point %d", what, i)
			require.LessOrEqual(t, float64(p.Percentiles[1]), slowest[i]*bucketFactor, "%s, point %d: a bucket is that wide", what, i)
		}
	}
}

// TestEveryFigureIsTheSum: whatever is counted, each point of each series is what an account of all
// requests says, and the last point what /metrics says.
func TestEveryFigureIsTheSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWalk()
	reasons := map[int]string{200: "", 403: "field_not_in_model", 429: "too_many_requests", 503: "backend_unavailable"}
	for range 20_000 {
		if random.IntN(50) == 0 {
			w.pass(time.Duration(random.IntN(9)) * Short)
		}
		status := []int{200, 200, 200, 403, 429, 503}[random.IntN(6)]
		w.note(gateway.Answer{
			Took: time.Millisecond + time.Duration(random.ExpFloat64()*float64(20*time.Millisecond)), Backend: time.Duration(random.IntN(3)) * 700 * time.Microsecond, Method: "GET",
			Endpoint: fmt.Sprintf("/r%d", random.IntN(20)), Key: fmt.Sprintf("key%d", random.IntN(5)), Client: fmt.Sprintf("client%d", random.IntN(10)), Status: status,
			Reason: reasons[status], RequestID: fmt.Sprintf("id-%d", len(w.told)),
		})
	}
	for name, span := range Spans {
		v := w.view(span)
		all, _ := v.Of(All, "")
		w.requirePoints(t, span, all, true, func(*gateway.Answer) bool { return true }, name+" of all")
		for kind, of := range map[Kind]func(*gateway.Answer) string{
			Key: func(a *gateway.Answer) string { return a.Key }, Client: func(a *gateway.Answer) string { return a.Client },
			Endpoint: func(a *gateway.Answer) string { return a.Method + " " + a.Endpoint }, Reason: func(a *gateway.Answer) string { return a.Reason },
		} {
			busiest, rest := v.Busiest(kind)
			require.Zero(t, rest.Requests)
			require.NotEmpty(t, busiest)
			for _, s := range busiest {
				w.requirePoints(t, span, s, kind == Endpoint, func(a *gateway.Answer) bool { return of(a) == s.Name }, name+" of "+s.Name)
			}
			require.True(t, slices.IsSortedFunc(busiest, func(a, b *Series) int { return int(b.Sum.Requests) - int(a.Sum.Requests) }))
		}
		require.EqualValues(t, 7, v.Levels[span.Points-2][Connections])
	}
	var last []string
	for _, a := range slices.Backward(w.told) {
		if a.Status == 503 && len(last) < 100 {
			last = append(last, a.RequestID)
		}
	}
	found := slices.DeleteFunc(w.Refusals(), func(r Refusal) bool { return r.Status != 503 })
	for i := range last {
		require.Equal(t, last[i], found[i].ID)
	}
}

// TestKeptOverRestart: a new process goes on where the last one ended, also within a step.
func TestKeptOverRestart(t *testing.T) {
	w := newWalk()
	file := filepath.Join(t.TempDir(), "history")
	for i := range 300 {
		w.pass(time.Duration(i%30) * time.Second)
		w.note(gateway.Answer{Took: time.Millisecond, Method: "GET", Endpoint: "/vehicle", Key: fmt.Sprint("key", i%20), Status: 200 + 203*(i%2), Reason: []string{"", "no_acces"}[i%2], RequestID: fmt.Sprint(i)})
	}
	w.Mark("configuration", "abc in force")
	require.NoError(t, w.Save(file))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode())
	before := w.Instrument

	w.now = w.now.Add(3 * time.Second)
	w.again()
	require.NoError(t, w.Load(filepath.Join(t.TempDir(), "none")))
	unfinished, other := filepath.Join(filepath.Dir(file), ".history.77"), filepath.Join(filepath.Dir(file), ".history.old")
	require.NoError(t, os.WriteFile(unfinished, []byte("of a process that was killed"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("somebody's"), 0o600))
	require.NoError(t, w.Load(file))
	require.NoFileExists(t, unfinished)
	require.FileExists(t, other)
	w.note(gateway.Answer{Took: time.Millisecond, Method: "GET", Endpoint: "/vehicle", Status: 200})
	for name, span := range Spans {
		all, _ := w.view(span).Of(All, "")
		w.requirePoints(t, span, all, true, func(*gateway.Answer) bool { return true }, name)
	}
	require.Len(t, w.Refusals(), 150)
	require.Equal(t, "299", w.Refusals()[0].ID)
	w.note(gateway.Answer{Status: 404, Reason: "record_not_found"})
	require.EqualValues(t, 151, w.Refusals()[0].Number, "numbers go on")
	require.Equal(t, before.ID(), w.ID())
	require.NotEqual(t, New(w.clock).ID(), w.ID())
	require.Equal(t, before.Marks(began)[0].Text, w.Marks(began)[0].Text)

	whole := must.Have(os.ReadFile(file))(t)
	require.NoError(t, os.WriteFile(file, whole[:len(whole)/2], 0o600))
	err = w.Load(file)
	require.ErrorContains(t, err, "is damaged")
	require.NotErrorIs(t, err, ErrForeign)
	require.NoError(t, os.WriteFile(file, []byte("no history"), 0o600))
	require.ErrorIs(t, w.Load(file), ErrForeign)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, New(w.clock).Load(file))
}

// TestFloodLeavesOthers: one key that runs into its limit pushes nobody else's refusals out,
// over a restart neither.
func TestFloodLeavesOthers(t *testing.T) {
	w := newWalk()
	w.note(gateway.Answer{Status: 401, Reason: "credentials_invalid", RequestID: "login"})
	for i := range 5 * MostRefusals / 2 {
		w.now = w.now.Add(time.Millisecond)
		w.note(gateway.Answer{Status: 429, Reason: "too_many_requests", RequestID: fmt.Sprint(i)})
	}
	is := func() {
		t.Helper()
		all := w.Refusals()
		require.Len(t, all, MostRefusals+1)
		require.Equal(t, fmt.Sprint(5*MostRefusals/2-1), all[0].ID)
		require.Equal(t, "login", all[MostRefusals].ID)
	}
	is()
	w.restart(t)
	is()
}

// TestBusiestAreKept: of a step the busiest have their names, and nothing is lost of the others.
func TestBusiestAreKept(t *testing.T) {
	w := newWalk()
	for range 60 {
		for i := range 4 * mostNamed {
			w.note(gateway.Answer{Key: fmt.Sprint("quiet", i), Status: 200})
		}
		for range 100 {
			w.note(gateway.Answer{Key: "busy", Status: 200})
		}
		w.pass(time.Minute)
	}
	named, rest := w.view(Spans["24h"]).Busiest(Key)
	require.Len(t, named, mostNamed)
	require.Equal(t, "busy", named[0].Name)
	require.EqualValues(t, 6000, named[0].Sum.Requests)
	sum := rest.Requests
	for _, s := range named {
		sum += s.Sum.Requests
	}
	require.EqualValues(t, len(w.told), sum)
}

// TestClockThatJumps: a clock that is set back for a moment loses nothing; what was counted in a
// time that is yet to come is dropped once the clock is right, over a restart too.
func TestClockThatJumps(t *testing.T) {
	w := newWalk()
	last := func() uint32 {
		s, _ := w.view(Spans["10m"]).Of(All, "")
		return s.Sum.Requests
	}
	w.note(gateway.Answer{Status: 200})
	w.pass(Short)
	w.now = w.now.Add(-Short)
	w.Take(Levels{})
	w.note(gateway.Answer{Status: 200})
	w.pass(2 * Short)
	require.EqualValues(t, 2, last(), "of a moment nothing is lost")

	right := w.now
	w.now = right.Add(48 * time.Hour)
	w.Take(Levels{})
	w.note(gateway.Answer{Status: 200, Key: "webshop", Grant: "GET /order"})
	require.EqualValues(t, 1, last(), "what is of two days ago is not of now")
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, w.Save(file))
	w.now = right
	w.again()
	require.ErrorIs(t, w.Load(file), ErrYetToCome)
	require.EqualValues(t, 2, last(), "and what is yet to come is not")
	require.EqualValues(t, 1, w.Tied("webshop").With[Grants][0].Requests)
	w.note(gateway.Answer{Status: 200})
	w.pass(time.Minute)
	require.EqualValues(t, 3, last())
}

// TestCalls: calls of the backend count by what their circuit guards, with the slowest ones.
func TestCalls(t *testing.T) {
	w := newWalk()
	for i := range 20 {
		w.Called(t.Context(), backend.Call{Resource: "order", Operation: []string{"get", "list"}[i%2], Lane: "reads of order", Outcome: backend.Answered, Took: time.Duration(i+1) * time.Millisecond})
	}
	w.Called(t.Context(), backend.Call{Resource: "order", Operation: "get", Lane: "reads of order", Outcome: backend.Busy, Took: time.Second})
	w.Called(t.Context(), backend.Call{Resource: "order", Operation: "get", Lane: "reads of order", Outcome: backend.Failed, Took: time.Minute, Opened: true})
	s, _ := w.view(Spans["10m"]).Of(Calls, "reads of order")
	require.Equal(t, [3]uint32{22, 1, 1}, [3]uint32{s.Sum.Requests, s.Sum.Refused, s.Sum.Failed})
	require.InEpsilon(t, 60, s.Sum.Percentiles[2], .1)
	require.Equal(t, backend.Failed, w.Opened("reads of order").Outcome)
	require.Nil(t, w.Opened("writes of order"))
	of := func() (took []time.Duration) {
		for _, c := range w.SlowestCalls() {
			took = append(took, c.Took)
		}
		return took
	}
	ms := time.Millisecond
	require.Equal(t, []time.Duration{time.Minute, time.Second, 20 * ms, 19 * ms, 18 * ms, 17 * ms, 16 * ms, 15 * ms, 14 * ms, 12 * ms}, of())
	w.now = w.now.Add(time.Hour)
	require.Len(t, of(), 10, "those of the hour before stay")
	w.now = w.now.Add(time.Hour)
	require.Empty(t, of())
}

// TestBounds: 10,000 keys, and 5,000 clients, take no more than was said, and a request allocates nothing.
func TestBounds(t *testing.T) {
	w := newWalk()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	hash := &auth.KeyHash{}
	a := gateway.Answer{Method: "GET", Took: time.Millisecond, Backend: time.Microsecond, Status: 403, Hash: hash}
	for i := range 20_000 {
		w.now = w.now.Add(time.Second)
		a.At = w.now
		a.Key, a.Client, a.Endpoint, a.Reason = fmt.Sprint("key", i%10_000), fmt.Sprint("client", i%10_000), fmt.Sprint("/e", i%150), fmt.Sprint("reason", i%100)
		a.User, a.Address, a.Grant = a.Client, fmt.Sprint("2001:db8:1:2:3:4:5:", i), a.Endpoint
		w.Answered(a)
		w.Called(t.Context(), backend.Call{Resource: fmt.Sprint("r", i%100), Operation: "get", Lane: fmt.Sprint("reads of r", i%100), Took: time.Millisecond, Outcome: backend.Failed})
		if i%1000 == 0 {
			w.Take(Levels{})
		}
	}
	require.LessOrEqual(t, heap()-before, uint64(28<<20))
	call := backend.Call{Resource: "r7", Operation: "get", Lane: "reads of r7", Took: time.Microsecond, Outcome: backend.Answered}
	w.Answered(a)
	w.Called(t.Context(), call)
	require.Zero(t, testing.AllocsPerRun(100, func() { w.Called(t.Context(), call) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { w.Answered(a) }), "a refusal")
	a.Reason = ""
	require.Zero(t, testing.AllocsPerRun(100, func() { w.Answered(a) }))
	runtime.KeepAlive(w.Instrument)
}

// TestKeysThatAreGone: their series go, but for their refusals, which count on without a name; those
// without a key stay, and one that was never used has one.
func TestKeysThatAreGone(t *testing.T) {
	w := newWalk()
	for _, key := range []string{"", "webshop", "gone"} {
		w.note(gateway.Answer{Key: key, Status: 429, Reason: "too_many_requests", Cause: "rate", Deprecated: []gateway.DeprecatedUse{{What: "GET /order"}}})
	}
	w.Used([32]byte{1}, began)
	w.Used([32]byte{2}, began)
	w.KeepKeys(map[[32]byte]KeyHash{{1}: {"webshop", "01000000"}})
	of, refused := map[string]int{}, 0.0
	families := must.Have(w.Registry.Gather())(t)
	for _, f := range families {
		for _, m := range f.Metric {
			if key, is := labelsOf(m)["key"]; is {
				of[f.GetName()+" "+key]++
				if f.GetName() == "frontdesk_refusals_total" {
					refused += m.GetCounter().GetValue()
				}
			}
		}
	}
	require.InDelta(t, 3, refused, 0)
	require.Equal(t, map[string]int{
		"frontdesk_refusals_total ": 1, "frontdesk_refusals_total webshop": 1, "frontdesk_deprecated_total ": 1, "frontdesk_deprecated_total webshop": 1, "frontdesk_key_requests_total webshop": 2,
	}, of)
	require.Equal(t, began.Unix(), w.LastUse([32]byte{1}).Unix())
	require.Zero(t, w.LastUse([32]byte{2}))
}

// TestToldOnce: what a gateway tells of itself a little at a time is all of the day, and nothing of it
// twice, although the place of a step keeps it for a while after its minute is told.
func TestToldOnce(t *testing.T) {
	w := newWalk()
	places, told := map[bool]map[int64]Step{true: {}, false: {}}, time.Time{}
	tell := func() {
		minutes, steps := w.Unreported(told)
		told = w.now
		for _, s := range slices.Concat(minutes, steps) {
			places[s.Long][s.Place()] = s
		}
	}
	for i := range 1000 {
		w.note(gateway.Answer{Status: 200})
		w.pass(time.Duration(i%7) * Short)
		tell()
	}
	all := slices.Concat(slices.Collect(maps.Values(places[true])), slices.Collect(maps.Values(places[false])))
	v := NewView(Spans["24h"], w.now)
	require.EqualValues(t, 1000, v.Add(Once(all)).Requests)
	minutes, steps := w.Unreported(w.now)
	require.Less(t, len(minutes)+len(steps), 20, "no more than that is told again")
}
