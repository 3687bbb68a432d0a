package history

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway"
)

// began is in the middle of a step and of a minute.
var began = time.Date(2026, 11, 23, 10, 0, 34, 0, time.UTC)

// walk is a history beside the list of all that it was told.
type walk struct {
	*History
	now  time.Time
	told []gateway.Answer
}

func newWalk() *walk {
	w := &walk{now: began}
	w.History = New(func() time.Time { return w.now })
	return w
}

func (w *walk) note(r gateway.Answer) {
	r.At = w.now
	w.told = append(w.told, r)
	w.Note(r)
}

// points are what a span should have of the requests that want lets through.
func (w *walk) points(span Span, want func(*gateway.Answer) bool) []Point {
	points := make([]Point, span.Points)
	sent, took, backend := make([]int, span.Points), make([][]time.Duration, span.Points), make([][]time.Duration, span.Points)
	size := int64(span.Step / time.Second)
	first := w.now.Unix()/size - int64(span.Points) + 1
	for i := range w.told {
		r := &w.told[i]
		at := r.At.Unix()/size - first
		if at < 0 || !want(r) {
			continue
		}
		points[at].Requests++
		if r.Status >= 500 {
			points[at].Failed++
		} else if r.Status >= 400 {
			points[at].Refused++
		}
		sent[at] += r.Sent
		took[at] = append(took[at], r.Took)
		if r.Backend > 0 {
			backend[at] = append(backend[at], r.Backend)
		}
	}
	for i := range points {
		points[i].Sent, points[i].Took, points[i].Backend = uint32(sent[i]>>10), percentiles(took[i]), percentiles(backend[i])
	}
	return points
}

func percentiles(all []time.Duration) (t Times) {
	slices.Sort(all)
	for i, p := range Percentiles {
		if len(all) > 0 {
			t[i] = bucketOf(all[(len(all)*p+99)/100-1])
		}
	}
	return t
}

// TestEveryFigureIsTheSum: whatever is noted, and however the clock goes on, each point of
// each series is what an account of all requests says.
func TestEveryFigureIsTheSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWalk()
	reasons := map[int]string{200: "", 403: "field_not_in_model", 429: "too_many_requests", 503: "backend_unavailable"}
	for range 20_000 {
		if random.IntN(20) == 0 {
			w.now = w.now.Add(time.Duration(random.IntN(40_000)) * time.Millisecond)
		}
		status := []int{200, 200, 200, 403, 429, 503}[random.IntN(6)]
		w.note(gateway.Answer{
			Took: time.Duration(random.ExpFloat64() * float64(20*time.Millisecond)), Backend: time.Duration(random.IntN(3)) * 700 * time.Microsecond, Method: "GET",
			Endpoint: fmt.Sprintf("/r%d", random.IntN(20)), Key: fmt.Sprintf("key%d", random.IntN(5)), Client: fmt.Sprintf("client%d", random.IntN(10)), Status: status, Sent: random.IntN(5000),
			Reason: reasons[status], RequestID: fmt.Sprintf("id-%d", len(w.told)),
		})
	}
	for name, span := range Spans {
		all, _ := w.Of(All, Name{}, span)
		require.Equal(t, w.points(span, func(*gateway.Answer) bool { return true }), all.Points, "%s of all", name)
		for i := range 5 {
			key := fmt.Sprintf("key%d", i)
			of, found := w.Of(Key, Name{Word: key}, span)
			require.True(t, found)
			require.Equal(t, w.points(span, func(r *gateway.Answer) bool { return r.Key == key }), of.Points, "%s of %s", name, key)
		}
		endpoints, rest := w.Busiest(Endpoint, span)
		require.Zero(t, rest.Sum())
		for _, of := range endpoints {
			require.Equal(t, w.points(span, func(r *gateway.Answer) bool { return r.Endpoint == of.Name.Word }), of.Points, "%s of %s", name, of.Name)
		}
		require.True(t, slices.IsSortedFunc(endpoints, func(a, b Series) int { return int(b.Sum().Requests) - int(a.Sum().Requests) }))
	}
	var last []string
	for _, r := range slices.Backward(w.told) {
		if r.Status == 503 && len(last) < 100 {
			last = append(last, r.RequestID)
		}
	}
	found := w.Refusals(func(r *Refusal) bool { return r.Status == 503 })
	for i := range last {
		require.Equal(t, last[i], found[i].ID)
	}
}

// TestKeptOverRestart: a new process goes on where the last one ended, also within a minute.
func TestKeptOverRestart(t *testing.T) {
	w := newWalk()
	file := filepath.Join(t.TempDir(), "history")
	for i := range 300 {
		w.now = w.now.Add(time.Duration(i%30) * time.Second)
		w.note(gateway.Answer{Took: time.Millisecond, Method: "GET", Endpoint: "/vehicle", Key: fmt.Sprint("key", i%100), Status: 200 + 203*(i%2), Reason: []string{"", "no_acces"}[i%2], RequestID: fmt.Sprint(i), Sent: 1024})
		w.Sample(Levels{Connections: uint32(i)})
	}
	w.Mark("configuration", "abc in force")
	require.NoError(t, w.Save(file))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode())
	before := w.History

	w.now = w.now.Add(3 * time.Second)
	w.History = New(func() time.Time { return w.now })
	require.NoError(t, w.Load(filepath.Join(t.TempDir(), "none")))
	unfinished, other := filepath.Join(filepath.Dir(file), ".history.77"), filepath.Join(filepath.Dir(file), ".history.old")
	require.NoError(t, os.WriteFile(unfinished, []byte("of a process that was killed"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("somebody's"), 0o600))
	require.NoError(t, w.Load(file))
	require.NoFileExists(t, unfinished)
	require.FileExists(t, other)
	w.note(gateway.Answer{Took: time.Millisecond, Method: "GET", Endpoint: "/vehicle", Status: 200, Sent: 1024})
	for name, span := range Spans {
		_, were := before.Window(span)
		is, are := w.Window(span)
		require.Equal(t, w.points(span, func(*gateway.Answer) bool { return true }), is.Points, name)
		require.Equal(t, were, are, name)
		for k := Endpoint; k < kinds; k++ {
			_, was := before.Busiest(k, span)
			_, is := w.Busiest(k, span)
			require.Equal(t, was, is)
		}
	}
	all := func(*Refusal) bool { return true }
	require.Len(t, w.Refusals(all), 150)
	require.Equal(t, before.ID(), w.ID())
	require.NotEqual(t, New(w.clock).ID(), w.ID())
	require.Equal(t, before.Marks(began)[0].Text, w.Marks(began)[0].Text)

	w.now = began
	require.ErrorContains(t, New(func() time.Time { return w.now }).Load(file), "which is yet to come")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, whole[:len(whole)/2], 0o600))
	err = w.Load(file)
	require.ErrorContains(t, err, "is damaged")
	require.NotErrorIs(t, err, ErrForeign)
	require.NoError(t, os.WriteFile(file, []byte("no history"), 0o600))
	require.ErrorIs(t, w.Load(file), ErrForeign)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, New(func() time.Time { return w.now }).Load(file))
}

// TestFloodLeavesOthers: one key that runs into its limit pushes nobody else's refusals out,
// over a restart neither.
func TestFloodLeavesOthers(t *testing.T) {
	w := newWalk()
	w.note(gateway.Answer{Status: 401, Reason: "credentials_invalid", RequestID: "login"})
	for i := range 3 * MostRefusals {
		w.now = w.now.Add(time.Millisecond)
		w.note(gateway.Answer{Status: 429, Reason: "too_many_requests", RequestID: fmt.Sprint(i)})
	}
	all := w.Refusals(func(*Refusal) bool { return true })
	require.Len(t, all, MostRefusals)
	require.Equal(t, fmt.Sprint(3*MostRefusals-1), all[0].ID)
	login := func(r *Refusal) bool { return r.Status == 401 }
	require.Equal(t, "login", w.Refusals(login)[0].ID)
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, w.Save(file))
	w.History = New(w.clock)
	require.NoError(t, w.Load(file))
	require.Equal(t, "login", w.Refusals(login)[0].ID)
	require.Equal(t, all, w.Refusals(func(*Refusal) bool { return true }))
}

// TestBusiestAreKept: a name that comes late and is busy gets a place, and nothing is lost of
// what the one had whose place it takes.
func TestBusiestAreKept(t *testing.T) {
	w := newWalk()
	day := Spans["24h"]
	for range 30 {
		for i := range 4 * mostKept {
			w.note(gateway.Answer{Took: time.Millisecond, Key: fmt.Sprint("quiet", i), Status: 200})
		}
		for range 100 {
			w.note(gateway.Answer{Took: time.Millisecond, Key: "busy", Status: 200})
		}
		w.now = w.now.Add(time.Minute)
	}
	known, rest := w.Busiest(Key, day)
	require.Len(t, known, mostKept)
	require.Equal(t, "busy", known[0].Name.Word)
	require.EqualValues(t, 2900, known[0].Sum().Requests)
	sum := rest.Sum().Requests
	for _, s := range known {
		sum += s.Sum().Requests
	}
	require.EqualValues(t, len(w.told), sum)
}

// TestClockThatJumps: what is noted while it is set back counts in the step that was reached.
func TestClockThatJumps(t *testing.T) {
	w := newWalk()
	w.note(gateway.Answer{Status: 200})
	w.now = began.Add(-time.Hour)
	w.note(gateway.Answer{Status: 200})
	s, _ := w.Of(All, Name{}, Spans["10m"])
	require.EqualValues(t, 2, s.Points[len(s.Points)-1].Requests)
	w.now = began.Add(48 * time.Hour)
	for _, span := range Spans {
		s, _ := w.Of(All, Name{}, span)
		require.Zero(t, s.Sum())
	}
}

// TestClockThatWasAhead: once a clock is right again, steps go on from where it is, and what was
// counted in no step is kept over a restart.
func TestClockThatWasAhead(t *testing.T) {
	w := newWalk()
	each := func(steps int) {
		for range steps {
			w.note(gateway.Answer{Status: 200, Key: "webshop", Grant: "GET /order"})
			w.Sample(Levels{Connections: 7})
			w.now = w.now.Add(Short)
		}
	}
	isRight := func() {
		t.Helper()
		w.note(gateway.Answer{Status: 200})
		for _, span := range []Span{Spans["10m"], Spans["2h"]} {
			s, at := w.Window(span)
			require.Equal(t, w.now.Unix()/10, s.At.Unix()/10+int64(span.Points)-1, "the last step is that of the clock")
			last, levels := s.Points[span.Points-20:], at[span.Points-20:]
			for i := range last {
				require.EqualValues(t, 1, last[i].Requests, "%d", i)
			}
			require.EqualValues(t, 7, levels[18][Connections])
			require.Zero(t, s.Points[0], "of what is yet to come, nothing is shown as past")
		}
		s, _ := w.Of(All, Name{}, Spans["24h"])
		require.EqualValues(t, 6, s.Points[len(s.Points)-2].Requests)
		w.Sample(Levels{Connections: 7})
		w.now = w.now.Add(Short)
	}
	each(10)
	w.now = w.now.Add(24 * time.Hour)
	each(6)
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, w.Save(file))

	w.now = began.Add(3 * time.Minute)
	each(30)
	isRight()

	w.now = began.Add(3 * time.Minute)
	w.History = New(w.clock)
	require.ErrorIs(t, w.Load(file), ErrYetToCome)
	require.EqualValues(t, 16, w.Tied(Key, Name{Word: "webshop"}).With[Grants][0].Requests)
	each(30)
	isRight()
	require.NoError(t, w.Save(file))
	w.History = New(w.clock)
	require.NoError(t, w.Load(file))
	isRight()

	behind := w.now
	w.now = began.Add(-time.Hour) // for a moment
	each(3)
	w.now = behind.Add(Short)
	s, _ := w.Of(All, Name{}, Spans["2h"])
	require.EqualValues(t, 1, s.Points[len(s.Points)-10].Requests, "nothing is lost by a moment")
}

// TestBounds: 10,000 keys and clients take no more than was said, and a request allocates
// nothing.
func TestBounds(t *testing.T) {
	w := newWalk()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	w.History = New(func() time.Time { return w.now })
	r := gateway.Answer{Method: "GET", Took: time.Millisecond, Backend: time.Microsecond, Status: 403}
	for i := range 20_000 {
		r.At = w.now.Add(time.Duration(i) * time.Second)
		r.Key, r.Client, r.Endpoint, r.Reason = fmt.Sprint("key", i%10_000), fmt.Sprint("client", i%10_000), fmt.Sprint("/e", i%1000), fmt.Sprint("reason", i%100)
		r.User, r.Address, r.Grant = r.Client, fmt.Sprint("2001:db8:1:2:3:4:5:", i), r.Endpoint
		w.Note(r)
		w.NoteCall(fmt.Sprint("reads of r", i%100), time.Millisecond, Failed)
	}
	require.LessOrEqual(t, heap()-before, uint64(8<<20))
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		w.Note(r)
		w.NoteCall("reads of r7", time.Millisecond, Good)
	}))
	runtime.KeepAlive(w.History)
}

// TestBuckets: a duration is told as the end of its bucket, at most an eighth more than it was.
func TestBuckets(t *testing.T) {
	for d := time.Duration(0); d < 100*time.Second; d += d/50 + time.Microsecond {
		end := bucketEnd(bucketOf(d))
		require.Greater(t, end, d)
		require.LessOrEqual(t, end, d+max(d/8, time.Microsecond)+time.Microsecond, "%s", d)
	}
}

// TestRingsAdd: what gateways tell each other of themselves, a few steps at a time, adds up to
// what each of them has, however often it is told.
func TestRingsAdd(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	one, other := newWalk(), newWalk()
	rings, told := map[time.Duration][]byte{}, time.Time{}
	for range 400 {
		pause := time.Duration(random.IntN(30_000)) * time.Millisecond
		one.now, other.now = one.now.Add(pause), other.now.Add(pause)
		for _, w := range []*walk{one, other} {
			for range random.IntN(4) {
				w.note(gateway.Answer{Took: time.Duration(random.IntN(1e8)), Status: []int{200, 404, 503}[random.IntN(3)], Sent: random.IntN(4) << 10})
			}
			w.Sample(Levels{Connections: uint32(random.IntN(5)), Due: uint32(random.IntN(5))})
		}
		for _, span := range []Span{RingOf(Spans["10m"]), RingOf(Spans["24h"])} {
			for _, p := range other.Places(span, told) {
				ring := rings[span.Step]
				if missing := p.At + len(p.Bytes) - len(ring); missing > 0 {
					ring = append(ring, make([]byte, missing)...)
				}
				copy(ring[p.At:], p.Bytes)
				rings[span.Step] = ring
			}
		}
		told = other.now
	}
	for name, span := range Spans {
		sum, levels := one.Window(span)
		_, own := one.Window(span)
		theirs, others := other.Window(span)
		require.Equal(t, theirs.Sum(), sum.Join(levels, rings[span.Step]), name)
		for i, want := range one.points(span, func(*gateway.Answer) bool { return true }) {
			of := theirs.Points[i]
			want.plus(of)
			for p := range want.Took {
				want.Took[p] = max(want.Took[p], of.Took[p])
			}
			require.Equal(t, want, sum.Points[i], name)
			mine, its := own[i], others[i]
			require.Equal(t, mine[Connections]+its[Connections], levels[i][Connections])
			require.Equal(t, max(mine[Due], its[Due]), levels[i][Due], "of a table that they share")
		}
	}
}

// TestPlacesAreOfOneMoment: a step that begins while the places are made moves no figure into
// another one's place.
func TestPlacesAreOfOneMoment(t *testing.T) {
	now, pause := began, time.Duration(0)
	h := New(func() time.Time {
		now = now.Add(pause)
		return now
	})
	h.Note(gateway.Answer{At: now, Status: 200})
	h.Sample(Levels{Connections: 7})
	pause = Short // between any two looks at the clock
	span := RingOf(Spans["10m"])
	all := h.Places(span, time.Time{})
	require.Len(t, all, 1)
	sum := Series{At: began.Truncate(Short), Step: span.Step, Points: make([]Point, 2)}
	levels := make([]Levels, 2)
	require.EqualValues(t, 1, sum.Join(levels, all[0].Bytes).Requests)
	require.Equal(t, []Levels{{Connections: 7}, {}}, levels)
	require.EqualValues(t, 1, sum.Points[0].Requests)
}
