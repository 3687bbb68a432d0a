package reload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// latest is how long after its files are gone a configuration may judge a request.
const latest = 10 * time.Second

// TestSoakReloads replaces the files of a desk in every way that there is while it serves
// 2,000 requests a second, 200 times: by links, folders, mounts, in place, and cut short. In
// its short form it is 20 times under 400 a second. Every line of the access log names a
// configuration that stood on disk, all of it at one moment, at most 10 s before.
func TestSoakReloads(t *testing.T) {
	rounds, perSecond := 20, 400
	if sqltest.Soak() {
		rounds, perSecond = 200, 2000
	}
	s := &soak{site: newSite(t), stood: map[string]*standing{}}
	s.text = rig.KeptConfig(t, rig.Engines[0].DSN(t), "include: [keys.d/*.yaml]", " []\n")
	s.next()
	s.write("top/site/keys.d/full.yaml", s.full)
	s.write("top/site/keys.d/orders.yaml", s.other)
	ops := rig.FreeAddress(t)
	s.text = strings.Replace(s.text, "OPS", ops, 1)
	s.write("top/site/frontdesk.yaml", s.text)
	s.stands()
	s.Kept = rig.StartTimed(t, s.at("top/site/frontdesk.yaml"), "", time.After)
	s.Ops = ops
	var token atomic.Value
	var since, began time.Time
	logIn := func() { // before the session ends
		if time.Since(since) > auth.MaxTTL/2 {
			since = time.Now()
			token.Store(s.Login(rig.FullKey, "demo"))
		}
	}
	logIn()
	stop := s.TrafficAt(func() string { return token.Load().(string) }, perSecond)
	began = time.Now()
	t.Cleanup(func() { stop() })
	ways := s.ways()
	for round := range rounds {
		logIn()
		way := ways[round%len(ways)]
		way.do()
		s.taken(fmt.Sprintf("round %d: %s", round, way.name))
		s.judge()
	}
	answered := stop()
	rate := float64(answered) / time.Since(began).Seconds()
	s.Shutdown()
	s.judge()
	require.Greater(t, s.judged, rounds, "there was little traffic")
	t.Logf("%d requests answered, %.0f a second, of them %d judged by what only one configuration allows; %d configurations stood on disk", answered, rate, s.judged, len(s.stood))
	if sqltest.Soak() {
		require.Greater(t, rate, 0.98*float64(perSecond), "the machine had no room for so many")
	}
}

// soak is a site whose every state is known.
type soak struct {
	*site
	text        string // of the main file
	full, other string // files of keys, as they are to be; "" is none
	allowed     []string
	stood       map[string]*standing // by hash
	now         *standing            // what stands there
	hash        string
	gone        int    // folders
	rest        []byte // of a line of the log
	judged      int
}

// standing is a configuration that stood on disk, perhaps several times.
type standing struct {
	allowed []string
	spans   [][2]time.Time // the last has no end yet where it stands there
}

// next decides what the keys are to be: another allowlist, and text as long as any other.
func (s *soak) next() {
	s.version++
	s.allowed = [][]string{rig.AllowedByA, rig.AllowedByB}[s.version%2]
	rules := strings.ReplaceAll(fmt.Sprintf("%q", s.allowed), `"/`, `"GET /`)
	rules = strings.ReplaceAll(strings.Trim(rules, "[]"), " \"", ", \"")
	s.full = fmt.Sprintf("# %06d%s\napi_keys:%s", s.version, strings.Repeat(" ", 100-len(rules)), rig.KeptKey(rules))
	s.other = fmt.Sprintf("# %06d\napi_keys:%s", s.version, rig.KeptOrders)
}

// stands notes, before it is so, that what the keys are to be stands on disk from now on.
func (s *soak) stands() {
	s.t.Helper()
	s.remove("stage")
	s.write("stage/frontdesk.yaml", s.text)
	s.write("stage/keys.d/full.yaml", s.full)
	if s.other != "" {
		s.write("stage/keys.d/orders.yaml", s.other)
	}
	c, err := desk.LoadConfig(s.at("stage/frontdesk.yaml"))
	require.NoError(s.t, err)
	s.hash = c.Hash()
	if s.stood[s.hash] == nil {
		s.stood[s.hash] = &standing{allowed: s.allowed}
	}
	s.now = s.stood[s.hash]
	s.now.spans = append(s.now.spans, [2]time.Time{time.Now(), {}})
}

// to changes the disk from what stands there to what is noted by note.
func (s *soak) to(note, change func()) {
	s.t.Helper()
	before := s.now
	note()
	s.stands()
	change()
	before.spans[slices.IndexFunc(before.spans, func(span [2]time.Time) bool { return span[1].IsZero() })][1] = time.Now()
}

// taken waits until what stands on disk is in force.
func (s *soak) taken(what string) {
	s.t.Helper()
	await.True(s.t, func() bool {
		now := s.Ready().Config
		return now.Hash == s.hash && now.Error == ""
	}, what)
}

// kept waits until what has become of the disk was refused.
func (s *soak) kept(told string) {
	s.t.Helper()
	await.True(s.t, func() bool { return strings.Contains(s.Ready().Config.Error, told) }, told)
}

// staged writes the files of keys into a folder of their own, all of them before any is seen.
func (s *soak) staged() string {
	s.t.Helper()
	folder := fmt.Sprintf("top/site/keys.%d", s.version)
	s.write(folder+"/full.yaml", s.full)
	s.write(folder+"/orders.yaml", s.other)
	return folder
}

// away is a name that nothing has.
func (s *soak) away() string {
	s.gone++
	return fmt.Sprint("away.", s.gone)
}

type way struct {
	name string
	do   func()
}

// ways are those in which the disk changes.
func (s *soak) ways() []way {
	full, main := "top/site/keys.d/full.yaml", "top/site/frontdesk.yaml"
	swap := func() {
		s.to(s.next, func() {
			folder := s.staged()
			s.move("top/site/keys.d", s.away())
			s.move(folder, "top/site/keys.d")
		})
	}
	onlyFull := func() { other := s.other; s.next(); s.other = other }
	all := []way{
		{"a folder takes the place of another", swap},
		{"a file takes the place of another", func() { s.to(onlyFull, func() { s.WriteTo(s.at(full), s.full) }) }},
		{"a file is cut short, and replaced", func() {
			s.write(full, "")
			s.kept("full.yaml:1:1: api_keys: found no api_key")
			s.to(onlyFull, func() { s.WriteTo(s.at(full), s.full) })
		}},
		{"a file is written in place, and has the time of before", func() {
			was, err := os.Stat(s.at(full))
			require.NoError(s.t, err)
			s.to(onlyFull, func() {
				s.write(full, s.full)
				require.NoError(s.t, os.Chtimes(s.at(full), was.ModTime(), was.ModTime()))
			})
		}},
		{"a link takes the place of a folder", func() {
			s.to(s.next, func() {
				require.NoError(s.t, os.Symlink(s.at(s.staged()), s.at("top/site/link")))
				s.move("top/site/keys.d", s.away())
				s.move("top/site/link", "top/site/keys.d")
			})
		}},
		{"the main file is cut short, and replaced", func() {
			s.write(main, "")
			s.kept("frontdesk.yaml")
			s.to(func() { s.text += "#\n" }, func() { s.WriteTo(s.at(main), s.text) })
		}},
		{"a folder is away, and there again", func() {
			s.move("top/site/keys.d", s.away())
			s.kept("include[0]: found no api_key in any file")
			s.to(s.next, func() { s.move(s.staged(), "top/site/keys.d") })
		}},
		{"a file is deleted", func() {
			swap()
			s.taken("before a file is deleted")
			s.to(func() { s.other = "" }, func() { s.remove("top/site/keys.d/orders.yaml") })
		}},
		{"all of it is replaced", func() {
			s.to(func() { s.text += "#\n"; s.next() }, func() {
				s.write("top/new/frontdesk.yaml", s.text)
				s.write("top/new/keys.d/full.yaml", s.full)
				s.write("top/new/keys.d/orders.yaml", s.other)
				s.move("top/site", s.away())
				s.move("top/new", "top/site")
			})
		}},
	}
	if os.Geteuid() == 0 {
		all = append(all, way{"a mount, and its end", func() {
			full, other, allowed := s.full, s.other, s.allowed
			var unmount func()
			s.to(s.next, func() { unmount = rig.Bind(s.t, s.at("top/site/keys.d"), s.at(s.staged())) })
			s.taken("a mount")
			s.to(func() { s.full, s.other, s.allowed = full, other, allowed }, unmount)
		}})
	}
	return all
}

// judge holds the lines of the access log since it was last asked to the configuration that
// each of them names.
func (s *soak) judge() {
	s.t.Helper()
	log := append(s.rest, s.Log.Reset()...)
	whole := bytes.LastIndexByte(log, '\n') + 1
	s.rest = bytes.Clone(log[whole:])
	for line := range bytes.Lines(log[:whole]) {
		if !bytes.Contains(line, []byte(`"msg":"request"`)) {
			continue
		}
		var l struct {
			TS               string
			Endpoint, Config string
			Status           int
			Duration         float64
		}
		require.NoError(s.t, json.Unmarshal(line, &l), "%s", line)
		at, err := time.Parse("2006-01-02T15:04:05.000Z0700", l.TS)
		require.NoError(s.t, err)
		stood := s.stood[l.Config]
		require.NotNil(s.t, stood, "it never stood on disk: %s", line)
		began := at.Add(-time.Duration(l.Duration * float64(time.Second)))
		require.True(s.t, slices.ContainsFunc(stood.spans, func(span [2]time.Time) bool {
			return at.After(span[0].Add(-time.Millisecond)) && (span[1].IsZero() || began.Before(span[1].Add(latest)))
		}), "it did not stand on disk by then: %s", line)
		require.NotEqual(s.t, 401, l.Status, "%s", line)
		if path := strings.TrimSuffix(l.Endpoint, "/{id}"); path == "/order" || path == "/country" {
			require.Equal(s.t, slices.Contains(stood.allowed, path), l.Status == 200, "%s", line)
			s.judged++
		}
	}
}
