package reload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// site is a folder with a configuration that a desk serves, which a test changes.
type site struct {
	*rig.Kept
	t       *testing.T
	dir     string
	version int      // of the keys in keys.d
	gone    int      // folders
	allowed []string // to the api_key full

	stood        []standing // in force, one after the other
	rest         []byte     // of a line of the log
	judged, told int        // requests, and changes that the log tells of
}

// standing is a configuration that was in force, from after the one before it was noticed, until
// the one after it was.
type standing struct {
	hash    string
	allowed []string
	noticed time.Time
}

// The files of keys.
const (
	fullFile   = "top/site/keys.d/full.yaml"
	ordersFile = "top/site/keys.d/orders.yaml"
)

// startSite starts a desk on one.
func startSite(t *testing.T, watch bool) *site {
	t.Helper()
	dir := must.Have(filepath.EvalSymlinks(t.TempDir()))(t)
	s := &site{t: t, dir: dir}
	s.keys("top/site/keys.d")
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "include: [keys.d/*.yaml, late/*.yaml, deep/er/*.yaml]", " []\n")
	s.Kept = rig.StartKept(t, s.at("top/site/frontdesk.yaml"), text, watch)
	return s
}

func (s *site) at(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.MkdirAll(filepath.Dir(s.at(name)), 0o755))
	require.NoError(s.t, os.WriteFile(s.at(name), []byte(text), 0o600))
}

func (s *site) move(from, to string) {
	s.t.Helper()
	require.NoError(s.t, os.Rename(s.at(from), s.at(to)))
}

func (s *site) remove(name string) {
	s.t.Helper()
	require.NoError(s.t, os.RemoveAll(s.at(name)))
}

// next decides what the keys are to be: another allowlist, and text as long as any other.
func (s *site) next() (full, orders string) {
	s.version++
	s.allowed = [][]string{rig.AllowedByA, rig.AllowedByB}[s.version%2]
	rules := `"GET ` + strings.Join(s.allowed, `", "GET `) + `"`
	full = fmt.Sprintf("# %06d%s\napi_keys:%s", s.version, strings.Repeat(" ", 100-len(rules)), rig.KeptKey(rules))
	return full, fmt.Sprintf("# %06d\napi_keys:%s", s.version, rig.KeptOrders)
}

// keys writes the next ones into a folder, and tells which.
func (s *site) keys(folder string) string {
	s.t.Helper()
	full, orders := s.next()
	s.write(folder+"/full.yaml", full)
	s.write(folder+"/orders.yaml", orders)
	return folder
}

// staged writes them into a folder of their own, so that they come all at once.
func (s *site) staged() string { return s.keys(fmt.Sprintf("top/site/keys.%d", s.version)) }

// away is a name that nothing has.
func (s *site) away() string {
	s.gone++
	return fmt.Sprint("away.", s.gone)
}

// onDisk is the hash of the configuration that the files hold.
func (s *site) onDisk() string {
	s.t.Helper()
	return must.Have(desk.LoadConfig(s.File))(s.t).Hash()
}

// noticed waits until the desk serves what is on disk.
func (s *site) noticed(what string) {
	s.t.Helper()
	want := s.onDisk()
	s.Compared(func(now desk.ConfigHealth) bool { return now.Hash == want && now.Error == "" }, what)
	s.stood = append(s.stood, standing{want, s.allowed, time.Now()})
}

// kept waits until what has become of the disk was refused.
func (s *site) kept(told string) {
	s.t.Helper()
	s.Compared(func(now desk.ConfigHealth) bool { return strings.Contains(now.Error, told) }, told)
}

// replace puts a copy with other keys in the place of a folder.
func (s *site) replace(folder string) {
	s.t.Helper()
	require.NoError(s.t, os.CopyFS(s.at("new"), os.DirFS(s.at(folder))))
	s.keys(strings.Replace("top/site/keys.d", folder, "new", 1))
	s.move(folder, s.away())
	s.move("new", folder)
}

// ways are those in which files become others.
var ways = []struct {
	name string
	do   func(s *site)
}{
	{"a file takes the place of another", (*site).replaceFull},
	{"a file is cut short, and replaced", func(s *site) {
		s.write(fullFile, "")
		s.kept("full.yaml:1:1: api_keys: found no api_key")
		s.replaceFull()
	}},
	{"a file is written in place, to as many bytes, and has the time of before", func(s *site) {
		was := must.Have(os.Stat(s.at(fullFile)))(s.t)
		full, _ := s.next()
		s.write(fullFile, full)
		require.NoError(s.t, os.Chtimes(s.at(fullFile), was.ModTime(), was.ModTime()))
	}},
	{"its folder is replaced", func(s *site) {
		folder := s.staged()
		s.move("top/site/keys.d", s.away()) // which stays: its end would be an event
		s.move(folder, "top/site/keys.d")
	}},
	{"a file in the folder that took its place", (*site).replaceFull},
	{"a link takes the place of a folder", func(s *site) {
		require.NoError(s.t, os.Symlink(s.at(s.staged()), s.at("top/site/link")))
		s.move("top/site/keys.d", s.away())
		s.move("top/site/link", "top/site/keys.d")
	}},
	{"the main file is cut short, and replaced", func(s *site) {
		text := rig.Read(s.t, s.File)
		s.write("top/site/frontdesk.yaml", "")
		s.kept("frontdesk.yaml")
		s.WriteTo(s.File, text+"#\n")
	}},
	{"a folder is away, and there again", func(s *site) {
		s.move("top/site/keys.d", s.away())
		s.kept("include[0]: found no api_key in any file")
		s.move(s.staged(), "top/site/keys.d")
	}},
	{"a file is deleted", func(s *site) { s.remove(ordersFile) }},
	{"the folder of all is replaced", func(s *site) { s.replace("top/site") }},
	{"a file in the folder that took the place of all", (*site).replaceFull},
	{"a folder is removed, and made anew", func(s *site) {
		s.remove("top/site/keys.d")
		s.keys("top/site/keys.d")
	}},
	{"a folder that was not there", func(s *site) { s.write("top/site/late/none.yaml", "api_keys: []\n") }},
	{"several folders that were not there", func(s *site) { s.write("top/site/deep/er/none.yaml", "api_keys: []\n") }},
	{"they are gone again", func(s *site) {
		s.remove("top/site/late")
		s.remove("top/site/deep")
	}},
	{"a folder far above is replaced", func(s *site) { s.replace("top") }},
	{"a file in what took its place", (*site).replaceFull},
	{"a mount, a file in it, its end, and a file behind it", func(s *site) {
		if os.Geteuid() != 0 {
			return // nothing can be mounted
		}
		allowed := s.allowed
		unmount := rig.Bind(s.t, s.at("top/site/keys.d"), s.at(s.staged()))
		s.noticed("a mount")
		s.replaceFull()
		s.noticed("a file in it")
		s.allowed = allowed
		unmount()
		s.noticed("its end")
		s.replaceFull()
	}},
}

func (s *site) replaceFull() {
	full, _ := s.next()
	s.WriteTo(s.at(fullFile), full)
}

// TestSoakReloads replaces the files of a desk in every way that there is, also such as no event of
// the system tells of, while requests come without a pause. What all configurations allow never fails;
// each line of the access log names a configuration that was in force then, and was judged by that
// alone; and nothing is left behind. Where nothing has changed, nothing is told, and no reload is counted.
func TestSoakReloads(t *testing.T) {
	rounds := 2
	if sqltest.Soak() {
		rounds = 20
	}
	s := startSite(t, true)
	s.noticed("the start")
	stop := s.Traffic(s.Login(rig.FullKey, "demo"))
	t.Cleanup(func() { stop() })
	files, routines := openFiles(t), runtime.NumGoroutine()
	for range rounds {
		for _, way := range ways {
			way.do(s)
			s.noticed(way.name)
			s.judge(way.name)
		}
	}
	answered := stop()
	require.Greater(t, answered, int64(200), "there was little traffic")
	require.Greater(t, s.told, rounds*len(ways)*2/3, "changes that the log tells of")
	reloads := s.Metric("frontdesk_config_reloads_total")
	s.Log.Reset()
	for range 30 {
		s.Round(desk.LookEvery)
	}
	require.Equal(t, reloads, s.Metric("frontdesk_config_reloads_total"))
	for line := range strings.Lines(s.Log.String()) { // of what was asked before
		require.Contains(t, line, `"msg":"request"`)
	}
	s.HTTP.CloseIdleConnections()
	const pools = 20 // what they may open once the traffic has begun, and keep: far less than one for each reload
	await.True(t, func() bool { return openFiles(t) <= files+pools && runtime.NumGoroutine() <= routines+pools }, "left behind")
	t.Logf("%d requests answered, of them %d judged by what only some configurations allow", answered, s.judged)
}

// judge holds the lines of the access log since it was last asked to the configurations that were in force.
func (s *site) judge(what string) {
	s.t.Helper()
	log := append(s.rest, s.Log.Reset()...)
	whole := bytes.LastIndexByte(log, '\n') + 1
	s.rest = bytes.Clone(log[whole:])
	for line := range bytes.Lines(log[:whole]) {
		var l struct {
			TS, Msg, Endpoint, Config, Trigger string
			Status                             int
			ID                                 string `json:"request_id"`
		}
		require.NoError(s.t, json.Unmarshal(line, &l), "%s", line)
		if l.Trigger == "file change" {
			s.told++
		}
		if l.Msg != "request" {
			continue
		}
		ended := must.Have(time.Parse("2006-01-02T15:04:05.000Z0700", l.TS))(s.t)
		var began time.Time // of the traffic, which names its requests by it
		if nano, err := strconv.ParseInt(l.ID, 10, 64); err == nil {
			began = time.Unix(0, nano)
		}
		by := len(s.stood) - 1 // its configuration
		for ; by >= 0; by-- {
			after, before := s.stood[max(by-1, 0)].noticed, s.stood[min(by+1, len(s.stood)-1)].noticed
			if s.stood[by].hash == l.Config && (by == 0 || !ended.Before(after.Truncate(time.Millisecond))) && (by == len(s.stood)-1 || !began.After(before)) {
				break
			}
		}
		require.GreaterOrEqual(s.t, by, 0, "%s: it was not in force: %s", what, line)
		require.NotEqual(s.t, 401, l.Status, "%s", line)
		if path := strings.TrimSuffix(l.Endpoint, "/{id}"); path == "/order" || path == "/country" {
			require.Equal(s.t, slices.Contains(s.stood[by].allowed, path), l.Status == 200, "%s: %s", what, line)
			s.judged++
		}
	}
}

// openFiles is how many files and sockets this process has open.
func openFiles(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not tell which files are open")
	}
	return len(all)
}

// TestReloadNotWatched: only SIGHUP takes up what has changed, a certificate too.
func TestReloadNotWatched(t *testing.T) {
	s := startSite(t, false)
	first := s.Ready().Config.Hash
	s.replaceFull()
	k, ca, certFile, keyFile := startCertified(t, false)
	expires := k.Ready().Certificate.Expires
	rig.WriteCertificate(t, ca, certFile, keyFile, 102)
	s.Timers.Pass(desk.LookEvery)
	k.Timers.Pass(desk.LookEvery)
	require.Equal(t, first, s.Ready().Config.Hash)
	require.Equal(t, expires, k.Ready().Certificate.Expires)
	s.HangUp()
	k.HangUp()
	require.Equal(t, s.onDisk(), s.Ready().Config.Hash)
	require.Greater(t, k.Ready().Certificate.Expires.Sub(expires), 23*time.Hour)
}

// TestReloadKeepsLostKeys: a file that is cut short takes nobody's keys away; saying so does.
func TestReloadKeepsLostKeys(t *testing.T) {
	s := startSite(t, true)
	orders := s.Login(rig.OrdersKey, "demo")
	hash := s.Ready().Config.Hash
	s.move(ordersFile, "top/site/keys.d/z-orders.yaml") // which changes no text
	s.HangUp()
	s.RequireLogged("nothing in it has changed")
	for _, lost := range []struct {
		name, told string
		do         func()
	}{
		{"a file is cut short", "keys.d/z-orders.yaml:1:1: api_keys: found no api_key, and orders is in force from here", func() { s.write("top/site/keys.d/z-orders.yaml", "") }},
		{"its folder is gone", `include[0]: found no api_key in any file that "keys.d/*.yaml" matches, and full, orders are in force from there`, func() { s.move("top/site/keys.d", "top/keys.d") }},
		{"all folders are", "no such file or directory", func() { s.move("top/site", "top/gone") }},
	} {
		lost.do()
		s.Settled(lost.name)
		now := s.Ready()
		require.Contains(t, now.Config.Error, lost.told)
		require.Equal(t, hash, now.Config.Hash)
		require.Equal(t, desk.HealthDegraded, now.Status)
		require.Zero(t, s.Metric("frontdesk_config_last_reload_success"))
		require.Equal(t, 200, s.Status("GET", "/order", orders), lost.name)
		s.RequireLogged(`"level":"error"`, "the one before stays in force", lost.told[:20])
		s.HangUp()
		require.Contains(t, s.Ready().Config.Error, lost.told, "what is in force is compared with, and not what was read before")
	}
	s.move("top/gone", "top/site")
	s.write("top/site/keys.d/z-orders.yaml", "api_keys: []\n")
	s.noticed("it is said to be gone")
	require.Equal(t, 401, s.Status("GET", "/order", orders))
}

// TestReloadHangs: a disk that does not answer keeps the files from being read and looked at,
// and the gateway goes on, tells of it and stops. A pipe that nobody writes into hangs like it.
func TestReloadHangs(t *testing.T) {
	s := startSite(t, true)
	hash := s.Ready().Config.Hash
	s.move("top/site/frontdesk.yaml", "top/site/before")
	require.NoError(t, unix.Mkfifo(s.File, 0o600))
	s.Signals <- syscall.SIGHUP
	require.Equal(t, desk.HealthOK, s.Ready().Status)
	await.True(t, func() bool {
		s.Clock.Pass(desk.FilesPatience)
		return s.Ready().Config.HangsSince != nil
	})
	now := s.Ready()
	require.Equal(t, desk.HealthDegraded, now.Status)
	require.Contains(t, now.Reasons[0], "have not answered since")
	require.Equal(t, hash, now.Config.Hash)
	require.Zero(t, s.Metric("frontdesk_config_last_reload_success"))

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Shutdown()
	}()
	await.True(t, func() bool { return s.Timers.Pass(desk.FilesPatience) == 1 })
	<-stopped
	require.Contains(t, s.Log.String(), "the files of the configuration do not answer")
	pipe, err := os.OpenFile(s.File, os.O_WRONLY, 0) // the disk answers again
	require.NoError(t, err)
	require.NoError(t, pipe.Close())
}
