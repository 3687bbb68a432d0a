package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook/webhooktest"
)

// system is what is behind the gateway.
type system interface {
	// begin makes it, in the folder that the gateway begins with.
	begin(w *world)
	// config are sections of the configuration: backend, and what belongs to it.
	config(folder string) string
	// wrap may put something around the driver.
	wrap(w *world) desk.WrapDriver
	// troubles are those that it can have.
	troubles(w *world) []trouble
	// behind changes records as others do who know no gateway.
	behind(w *world, random *rand.Rand)
	// names are the contacts that it has of a client, by name, with their payment days; nil where the gateway has the records.
	names(w *world, client int) map[string]string
	// mayHave reports whether a contact that is not there may have been made all the same, as far as the gateway knows.
	mayHave(name string) bool
	// again tells that work which was cut off is done again, once.
	again() bool
}

// world is a day of one seed.
type world struct {
	t      *testing.T
	seed   uint64
	system system
	net    *rig.Network
	random *rand.Rand
	root   string

	serving atomic.Pointer[gateway]
	lives   int
	folders int
	buried  sync.WaitGroup // of those that were killed
	graves  []*gateway
	ca      string // file
	hooks   *hooks

	writing sync.Mutex
	keys    string // sections of the configuration
	broken  string // text that makes the configuration one that cannot be used
	cutOff  bool   // it ends before its api_keys

	moments chan struct{} // tells a moment of the kind that a kill waits for
	awaited atomic.Value  // that kind
	kills   []time.Time   // when a life began after one that was killed

	mu       sync.Mutex
	story    []string
	faults   []string
	troubled []span         // when something was not as it should be
	asked    atomic.Int64   // requests of all clients
	guesses  atomic.Int32   // connections of the guard
	excuses  map[string]int // of how many of them which trouble was the excuse
}

// most is how many violations are told.
const most = 12

func (w *world) tell(format string, values ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, time.Now().UTC().Format("02 15:04:05.000 ")+fmt.Sprintf(format, values...))
}

// fault says that a promise was broken.
func (w *world) fault(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	w.tell("BROKEN: %s", text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, text)
}

// moment tells whoever waits for one of this kind that it is now.
func (w *world) moment(kind string) {
	if w.awaited.Load() == kind {
		select {
		case w.moments <- struct{}{}:
		default:
		}
	}
}

// pauses is a pause before, within or after a call of the system, which now and then is long: whoever has
// done something says so later than whoever has done something since.
func (w *world) pauses(when string) (d time.Duration) {
	w.moment(when)
	d = w.net.Delay()
	if when == "after" && d < 8*time.Microsecond {
		d *= 500_000
	}
	time.Sleep(d)
	return d
}

// before is what happened in the minute before the first violation, and up to the last one that is told: the
// story, and what the logs say but for requests.
func (w *world) before() (all []string) {
	first := slices.IndexFunc(w.story, func(line string) bool { return strings.Contains(line, "BROKEN") })
	all = w.story[max(0, first-40):min(len(w.story), first+most)]
	for _, g := range w.graves {
		for line := range strings.Lines(g.log.String()) {
			if stamp := stampOf(line); stamp >= all[0][:stampLength] && stamp <= all[len(all)-1][:stampLength] && !strings.Contains(line, `"msg":"request"`) {
				all = append(all, stamp+" "+g.name+" logs "+line[:min(len(line)-1, 400)])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(a[:stampLength], b[:stampLength]) })
	return all[max(0, len(all)-120):]
}

// stampLength is that of the moment before a line of the story.
const stampLength = len("02 15:04:05.000")

// stampOf is the moment of a line of the log, as the story has it.
func stampOf(line string) string {
	_, at, _ := strings.Cut(line, `"ts":"`)
	if len(at) < 23 {
		return ""
	}
	return at[8:10] + " " + at[11:23]
}

func (w *world) folder() string { return filepath.Join(w.root, fmt.Sprint("life ", w.folders)) }

func (w *world) nextFolder() string {
	w.folders++
	return w.folder()
}

// write writes the configuration, which a change may change before.
func (w *world) write(change ...func()) {
	w.writing.Lock()
	defer w.writing.Unlock()
	for _, f := range change {
		f()
	}
	text := fmt.Sprintf(`
server: {listen: %q, vendor: Example}
ops: {listen: %q}
%s
mail: {folder: %q}
webhooks: {allow_hosts: ["hooks.example.com"], ca_file: %q}
api_keys:
%s%s`, public, operators, w.system.config(w.folder()), filepath.Join(w.folder(), "mail"), w.ca, w.keys, w.broken)
	if w.cutOff {
		text, _, _ = strings.Cut(text, "api_keys:")
	}
	file := filepath.Join(w.folder(), configName)
	require.NoError(w.t, os.WriteFile(file+".new", []byte(text), 0o600))
	require.NoError(w.t, os.Rename(file+".new", file))
}

// seeds lives days of some seeds, each of which FRONTDESK_SEEDS may name (as in 4711 or 1-200).
func seeds(t *testing.T, behind func() system) {
	from, to := uint64(0), uint64(0)
	if text := os.Getenv("FRONTDESK_SEEDS"); text != "" {
		if n, _ := fmt.Sscanf(text, "%d-%d", &from, &to); n < 2 {
			to = from
		}
	} else if sqltest.Soak() {
		from, to = 1, 200
	}
	for seed := from; seed <= to; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			live(t, seed, behind())
		})
	}
}

// live lives a day of a seed. It fails the test with what was promised and not held.
func live(t *testing.T, seed uint64, s system) {
	// Names of sockets are short, so that a gateway in such a folder has none: nobody could wait for it.
	root := filepath.Join(t.TempDir(), strings.Repeat("far-", 24))
	require.NoError(t, os.MkdirAll(root, 0o700))
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)))
		random := rand.New(rand.NewPCG(seed, 0))
		var mu sync.Mutex
		delays := rand.New(rand.NewPCG(seed, 1))
		w := &world{t: t, seed: seed, system: s, random: random, root: root, excuses: map[string]int{}, moments: make(chan struct{})}
		w.net = &rig.Network{From: w.addressOf, Delay: func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(delays.IntN([]int{500, 500, 500, 500, 500, 500, 500, 20_000}[delays.IntN(8)])) * time.Microsecond
		}}
		w.day()
	})
}

func (w *world) day() {
	require.NoError(w.t, os.MkdirAll(w.folder(), 0o700))
	authority := webhooktest.NewAuthority(w.t)
	w.ca = authority.File(w.t)
	w.keys = rig.KeyConfig("full", rig.FullKey, "    allow: [\"* /*\"]\n") +
		rig.KeyConfig("limited", limitedKey, "    allow: [\"GET /contact\"]\n    rate: {per_second: 0.4, burst: 3}\n")
	w.hooks = w.listen(authority)
	w.awaited.Store("")
	w.system.begin(w)
	w.begin()
	w.logJobs()
	all := w.clients()
	for n, part := range w.random.Perm(3) {
		w.phase(all, part)
		if len(w.faults) > 0 {
			break
		}
		time.Sleep(time.Duration(w.random.Int64N(int64([]time.Duration{time.Minute, 40 * time.Minute, time.Minute}[n]))))
	}
	if len(w.faults) == 0 {
		time.Sleep(45 * time.Minute) // all that is tried again is through
		for _, c := range all {
			c.close()
		}
	}
	for _, c := range all {
		c.away()
	}
	w.end()
	w.buried.Wait()
	w.hooks.close()
	time.Sleep(time.Minute) // fasthttp's cleaners notice that they were stopped
	w.judgeLogs(w.graves...)
	w.judgeJobs()
	w.t.Logf("%d requests, of which were excused by: %v", w.asked.Load(), w.excuses)
	if len(w.faults) > 0 {
		w.t.Errorf("FRONTDESK_SEEDS=%d, %T:\n%s\nBefore:\n%s", w.seed, w.system, strings.Join(w.faults[:min(len(w.faults), most)], "\n"), strings.Join(w.before(), "\n"))
	}
}

// quiet is how long everybody rests before all is checked: longer than anything that is left of a trouble.
const quiet = 90 * time.Second

// phase has everybody busy while things go wrong, and then looks whether all is as it was answered.
func (w *world) phase(all []client, part int) {
	ctx, stop := context.WithCancel(context.Background())
	var busy sync.WaitGroup
	for _, c := range all {
		busy.Go(func() { c.work(ctx) })
	}
	length := time.Duration([]int{60, 90, 20}[part]+w.random.IntN(20)) * time.Second
	if w.seed == 0 { // a short day, which every run of the tests lives
		length /= 3
	}
	timer := time.AfterFunc(length, stop)
	w.trouble(ctx, part)
	<-ctx.Done()
	timer.Stop()
	// It is away for most of a day, and no longer: answers under keys of clients are kept for one, and of two
	// works under a key the second, if it has to wait until then, is done anew.
	if part == 2 {
		w.during("life", "", 0, func() {
			w.kill()
			busy.Wait()
			w.system.behind(w, w.random)
			time.Sleep(22 * time.Hour)
			w.begin()
		})
	}
	busy.Wait()
	time.Sleep(quiet)
	w.ready()
	for _, c := range all {
		c.check()
	}
}
