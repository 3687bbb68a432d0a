package reload

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// site is a folder with a configuration that a desk serves, which a test changes.
type site struct {
	*rig.Kept
	t       *testing.T
	dir     string
	version int // of the key in keys.d
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return &site{t: t, dir: dir}
}

// startSite starts a desk on one.
func startSite(t *testing.T, watch bool) *site {
	t.Helper()
	s := newSite(t)
	s.write("top/site/keys.d/orders.yaml", s.orders())
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "include: [keys.d/*.yaml, late/*.yaml, deep/er/*.yaml]", rig.KeptKey(`"GET /order"`))
	s.Kept = rig.StartKept(t, s.at("top/site/frontdesk.yaml"), text, watch)
	return s
}

// in has the next steps be those of another test.
func (s *site) in(t *testing.T) { s.t, s.Kept.T = t, t }

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

// orders is the next version of a file of keys, as long as any other.
func (s *site) orders() string {
	s.version++
	return fmt.Sprintf("# %03d\napi_keys:%s", s.version, rig.KeptOrders)
}

// onDisk is the hash of the configuration that the files hold.
func (s *site) onDisk() string {
	s.t.Helper()
	c, err := desk.LoadConfig(s.File)
	require.NoError(s.t, err)
	return c.Hash()
}

// noticed waits until the desk serves what is on disk.
func (s *site) noticed() {
	s.t.Helper()
	want := s.onDisk()
	s.Compared(func(now desk.ConfigHealth) bool { return now.Hash == want && now.Error == "" }, "what is on disk")
}

// change is one way in which files become others.
type change struct {
	name string
	do   func(s *site)
}

var changes = []change{
	{"a file is replaced", func(s *site) { s.WriteTo(s.at("top/site/keys.d/orders.yaml"), s.orders()) }},
	{"a file is written in place, to as many bytes, and has the time of before", func(s *site) {
		file := s.at("top/site/keys.d/orders.yaml")
		was, err := os.Stat(file)
		require.NoError(s.t, err)
		s.write("top/site/keys.d/orders.yaml", s.orders())
		require.NoError(s.t, os.Chtimes(file, was.ModTime(), was.ModTime()))
	}},
	{"its folder is replaced", func(s *site) {
		s.write("top/site/keys.new/orders.yaml", s.orders())
		s.move("top/site/keys.d", fmt.Sprint("top/site/keys.", s.version)) // which stays: its end would be an event
		s.move("top/site/keys.new", "top/site/keys.d")
	}},
	{"a file in the folder that took its place", func(s *site) { s.write("top/site/keys.d/orders.yaml", s.orders()) }},
	{"the folder of all is replaced", func(s *site) { s.replace("top/site") }},
	{"a file in the folder that took the place of all", func(s *site) { s.write("top/site/keys.d/orders.yaml", s.orders()) }},
	{"a folder is removed, and made anew", func(s *site) {
		s.remove("top/site/keys.d")
		s.write("top/site/keys.d/orders.yaml", s.orders())
	}},
	{"a folder that was not there", func(s *site) { s.write("top/site/late/none.yaml", "api_keys: []\n") }},
	{"several folders that were not there", func(s *site) { s.write("top/site/deep/er/none.yaml", "api_keys: []\n") }},
	{"they are gone again", func(s *site) {
		s.remove("top/site/late")
		s.remove("top/site/deep")
	}},
	{"a folder far above is replaced", func(s *site) { s.replace("top") }},
	{"a file in what took its place", func(s *site) { s.write("top/site/keys.d/orders.yaml", s.orders()) }},
}

// replace puts a copy with other keys in the place of a folder.
func (s *site) replace(folder string) {
	s.t.Helper()
	require.NoError(s.t, os.CopyFS(s.at("new"), os.DirFS(s.at(folder))))
	s.write(strings.Replace("top/site/keys.d/orders.yaml", folder, "new", 1), s.orders())
	s.move(folder, fmt.Sprint("old.", s.version))
	s.move("new", folder)
}

// TestReloadNoticesEveryChange changes files in all ways, also such as no event of the system tells of.
func TestReloadNoticesEveryChange(t *testing.T) {
	s := startSite(t, true)
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			s.in(t)
			c.do(s)
			s.noticed()
		})
	}
	t.Run("mounts", func(t *testing.T) {
		s.in(t)
		s.write("top/site/mounted/orders.yaml", s.orders())
		unmount := rig.Bind(t, s.at("top/site/keys.d"), s.at("top/site/mounted"))
		s.noticed()
		s.write("top/site/keys.d/orders.yaml", s.orders())
		s.noticed()
		unmount()
		s.noticed()
		s.write("top/site/keys.d/orders.yaml", s.orders())
		s.noticed()
	})
	s.in(t)
	s.RequireLogged(`"configuration changed"`, `"trigger":"file change"`)

	// Where nothing has changed, nothing is told of it, and no reload is counted.
	s.Round(desk.LookEvery)
	reloads, lines := s.Metric("frontdesk_config_reloads_total"), strings.Count(s.Log.String(), "\n")
	for range 30 {
		s.Round(desk.LookEvery)
	}
	require.Equal(t, reloads, s.Metric("frontdesk_config_reloads_total"))
	require.Equal(t, lines, strings.Count(s.Log.String(), "\n"))
}

// TestReloadNotWatched: only SIGHUP takes up what has changed, a certificate too.
func TestReloadNotWatched(t *testing.T) {
	s := startSite(t, false)
	first := s.Ready().Config.Hash
	s.write("top/site/keys.d/orders.yaml", s.orders())
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
	s.move("top/site/keys.d/orders.yaml", "top/site/keys.d/10-orders.yaml") // which changes no text
	s.HangUp()
	s.RequireLogged("nothing in it has changed")
	for _, lost := range []struct {
		name, told string
		do         func()
	}{
		{"a file is cut short", "keys.d/10-orders.yaml:1:1: api_keys: found no api_key, and orders is in force from here", func() { s.write("top/site/keys.d/10-orders.yaml", "") }},
		{"its folder is gone", `include[0]: found no api_key in any file that "keys.d/*.yaml" matches, and orders is in force from there`, func() { s.move("top/site/keys.d", "top/keys.d") }},
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
	s.write("top/site/keys.d/10-orders.yaml", "api_keys: []\n")
	s.noticed()
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
