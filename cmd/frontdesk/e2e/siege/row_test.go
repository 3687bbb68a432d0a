package siege

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The aims.
const (
	mostMemory = 256 << 20
	mostLate   = 100 * time.Millisecond // of 99 in 100 answers, or
	mostTimes  = 10                     // times as late as when it was quiet
	mostLogin  = time.Second
)

// leastDone is how many connections and answers an attacker has to come to: it might have
// done nothing.
const leastDone = 8

// mostAhead is how many lists may be answered for each of the customer's. With shares he
// waits for some of those under way, which come to three; without them for all 40
// connections of the attacker.
const mostAhead = 16

// row is what came of an attack.
type row struct {
	*attack
	quiet, under summary
	peak         int // bytes
	ended        bool
	panics       int
	ahead        int // lists that are answered for each of the customer's
	did          tally
}

// summary is what came of what a customer asked.
type summary struct {
	count       int
	median, p99 time.Duration          // of what needs nothing that is broken, logins and results aside
	login       time.Duration          // the slowest
	refused     map[string]map[int]int // what was not done as it should have been: how often, by status
	broken      map[string]map[int]int // the same of what needs what is broken, and was 5xx
}

// summarise sums samples up. broken is what needs what is broken, and may be 5xx.
func summarise(samples []sample, broken []string) summary {
	sum := summary{count: len(samples), refused: map[string]map[int]int{}, broken: map[string]map[int]int{}}
	var late []time.Duration
	for _, s := range samples {
		needs := slices.Contains(broken, s.kind)
		switch {
		case s.kind == results:
		case s.kind == logging && !needs:
			sum.login = max(sum.login, s.late)
		case !needs:
			late = append(late, s.late)
		}
		if s.status/100 == 2 {
			continue
		}
		of := sum.refused
		if needs && s.status/100 == 5 {
			of = sum.broken
		}
		if of[s.kind] == nil {
			of[s.kind] = map[int]int{}
		}
		of[s.kind][s.status]++
	}
	if len(late) > 0 {
		slices.Sort(late)
		sum.median, sum.p99 = late[len(late)/2], late[len(late)*99/100]
	}
	return sum
}

// faults are the aims that were missed, those of time only where they were measured.
func (r *row) faults(timed bool) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.ended {
		say("the process ended")
	}
	if r.panics > 0 {
		say("%d panics", r.panics)
	}
	if r.peak > mostMemory {
		say("%d MiB of memory", r.peak>>20)
	}
	if refused := told(r.under.refused); refused != "" {
		say("refused: %s", refused)
	}
	if done := r.did.Connections + r.did.answered(); done < leastDone {
		say("the attacker came to %d connections and answers only", done)
	}
	if r.ahead > mostAhead {
		say("%d lists were answered for each of the customer's", r.ahead)
	}
	if r.gets > 0 && r.did.Answers[r.gets] < leastDone {
		say("the attacker was answered %d only %d times", r.gets, r.did.Answers[r.gets])
	}
	if !timed {
		return all
	}
	if bound := max(mostLate, mostTimes*r.quiet.p99); r.under.p99 > bound {
		say("p99 %s, over %s", short(r.under.p99), short(bound))
	}
	if r.under.login > mostLogin {
		say("a login took %s", short(r.under.login))
	}
	return all
}

// enough reports whether it did what a row wants of it, with answers of a status if not 0.
func (t tally) enough(status int) bool {
	return t.Connections+t.answered() >= leastDone && (status == 0 || t.Answers[status] >= leastDone)
}

func (t tally) answered() (sum int) {
	for _, n := range t.Answers {
		sum += n
	}
	return sum
}

func (s summary) times() string { return short(s.median) + ", " + short(s.p99) }

// told is what was refused, and how: "3 × login 429".
func told(refused map[string]map[int]int) string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(refused)) {
		for _, status := range slices.Sorted(maps.Keys(refused[kind])) {
			how := fmt.Sprint(status)
			if status == 0 {
				how = "without an answer"
			}
			all = append(all, fmt.Sprintf("%d × %s %s", refused[kind][status], kind, how))
		}
	}
	return strings.Join(all, ", ")
}

// short is a time in words that compare well.
func short(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
}

// printRows prints the table of those attacks that were made, as docs/reliability.md has it.
func printRows(out io.Writer, rows []*row) {
	line := func(cells ...string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	fmt.Fprintf(out, "\n%s, %s\n\n", time.Now().Format(time.DateOnly), machine())
	line("Attack", "Peak memory", "Quiet: median, p99", "Attacked: median, p99", "Slowest login", "Refused", "Broken, and refused", "Aims")
	fmt.Fprintf(out, "|%s\n", strings.Repeat("---|", 8))
	for _, r := range rows {
		if r == nil { // skipped
			continue
		}
		missed := r.faults(true)
		for i := range missed { // by what stands in the column beside
			missed[i], _, _ = strings.Cut(missed[i], ":")
		}
		line("**"+r.name+"**: "+r.how, fmt.Sprintf("%d MiB", r.peak>>20), r.quiet.times(), r.under.times(), r.loginTold(),
			cmp.Or(told(r.under.refused), "–"), cmp.Or(told(r.under.broken), "–"), cmp.Or(strings.Join(missed, "; "), "met"))
	}
}

// loginTold is the slowest login, where logins need nothing that is broken.
func (r *row) loginTold() string {
	if slices.Contains(r.attack.broken, logging) {
		return "–"
	}
	return short(r.under.login)
}

// machine is what the siege ran on.
func machine() string {
	model := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, found := bytes.Cut(text, []byte("model name\t: ")); found {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			model = string(line)
		}
	}
	return fmt.Sprintf("%d × %s", runtime.NumCPU(), model)
}

// TestAims holds the verdict to what it must notice.
func TestAims(t *testing.T) {
	ms := time.Millisecond
	good := func() *row {
		return &row{
			attack: &attack{broken: []string{writing}}, peak: mostMemory, ahead: mostAhead, did: tally{Connections: 3, Answers: map[int]int{503: 4, 0: 1}},
			quiet: summary{p99: 20 * ms}, under: summary{p99: 200 * ms, login: mostLogin},
		}
	}
	require.Empty(t, good().faults(true))
	for want, change := range map[string]func(r *row){
		"the process ended": func(r *row) { r.ended = true },
		"1 panics":          func(r *row) { r.panics = 1 },
		"257 MiB of memory": func(r *row) { r.peak = 257 << 20 },
		"the attacker came to 3 connections and answers only": func(r *row) { r.did.Answers = nil },
		"17 lists were answered for each of the customer's":   func(r *row) { r.ahead = mostAhead + 1 },
		"the attacker was answered 202 only 7 times":          func(r *row) { r.gets, r.did.Answers = 202, map[int]int{202: 7} },
		"refused: 1 × read without an answer, 2 × write 503": func(r *row) {
			r.under.refused = map[string]map[int]int{writing: {503: 2}, reading: {0: 1}}
		},
		"p99 201 ms, over 200 ms": func(r *row) { r.under.p99 = 201 * ms },
		"p99 101 ms, over 100 ms": func(r *row) { r.quiet.p99, r.under.p99 = 9*ms, 101*ms },
		"a login took 1001 ms":    func(r *row) { r.under.login = 1001 * ms },
	} {
		r := good()
		change(r)
		require.Equal(t, []string{want}, r.faults(true))
	}
	late := good()
	late.under.p99, late.under.login = time.Minute, time.Minute
	require.Empty(t, late.faults(false), "what a loaded machine makes late")

	var samples []sample
	for n := range 100 {
		samples = append(samples, sample{reading, 200, time.Duration(n) * ms}, sample{writing, 500, time.Hour})
	}
	samples = append(samples, sample{logging, 200, 3 * ms}, sample{logging, 429, ms}, sample{results, 200, time.Hour}, sample{writing, 429, ms})
	sum := summarise(samples, good().attack.broken)
	require.Equal(t, []time.Duration{50 * ms, 99 * ms, 3 * ms}, []time.Duration{sum.median, sum.p99, sum.login})
	require.Equal(t, "1 × login 429, 1 × write 429", told(sum.refused))
	require.Equal(t, "100 × write 500", told(sum.broken))
}
