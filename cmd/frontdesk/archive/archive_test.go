//go:build unix

package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
)

// installation is a folder with files of all kinds.
type installation struct {
	t      *testing.T
	folder string
	files  []Source
}

func newInstallation(t *testing.T) installation {
	i := installation{t: t, folder: filepath.Join(t.TempDir(), "etc")}
	for path, kind := range map[string]Kind{
		"frontdesk.yaml": Configuration, "keys.d/webshop.yaml": Configuration, "tls/key.pem": Named,
		"data/frontdesk.db": Store, "data/frontdesk.db-callbacks/result": Result, "data/frontdesk.db-history": Past,
	} {
		i.write(path, "this is "+path, 0o640)
		i.files = append(i.files, Source{Path: i.path(path), Kind: kind})
	}
	return i
}

func (i installation) path(name string) string {
	return filepath.Join(i.folder, filepath.FromSlash(name))
}

func (i installation) write(name, text string, mode os.FileMode) {
	i.t.Helper()
	require.NoError(i.t, os.MkdirAll(filepath.Dir(i.path(name)), 0o700))
	require.NoError(i.t, os.WriteFile(i.path(name), []byte(text), mode))
}

// archive writes the archive into a folder.
func (i installation) archive(folder string) *Archive {
	i.t.Helper()
	m := Manifest{Time: time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC), Config: i.path("frontdesk.yaml")}
	file := filepath.Join(folder, m.NameAt())
	_, err := Write(i.t.Context(), file, m, i.files, func(int64) {})
	require.NoError(i.t, err)
	a, err := Open(file)
	require.NoError(i.t, err)
	i.t.Cleanup(func() { a.Close() })
	return a
}

// texts are all files there are, by name, with their modes.
func (i installation) texts() map[string]string {
	i.t.Helper()
	texts := map[string]string{}
	require.NoError(i.t, filepath.WalkDir(filepath.Dir(i.folder), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			info, _ := d.Info()
			texts[path] = info.Mode().String() + " " + string(text)
		}
		return err
	}))
	return texts
}

func all(Part) bool { return true }

// restore puts all of an archive back.
func restore(ctx context.Context, a *Archive, step func(string)) error {
	if err := a.Verify(ctx, func(int64) {}); err != nil {
		return err
	}
	plan, err := a.Plan(ctx, all, nil)
	if err != nil {
		return err
	}
	return plan.Apply(ctx, func(int64) {}, step)
}

// killVariable tells a process of this test which archive to put back, and before which name to
// be killed.
const killVariable = "FRONTDESK_TEST_KILLED"

// TestKilled puts an archive back and is killed before each name that it gives. What is there
// then serves nothing, since the main file comes last, and to do the same again does all of it.
func TestKilled(t *testing.T) {
	if told := os.Getenv(killVariable); told != "" {
		file, at, _ := strings.Cut(told, "\n")
		a, err := Open(file)
		require.NoError(t, err)
		n := 0
		require.NoError(t, restore(t.Context(), a, func(string) {
			if n++; fmt.Sprint(n) == at {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}))
		return
	}
	i, kept := newInstallation(t), t.TempDir()
	a := i.archive(kept)
	whole := i.texts()
	for at := 1; at <= len(whole); at++ {
		require.NoError(t, os.RemoveAll(i.folder))
		child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d", killVariable, a.File, at))
		out, err := child.CombinedOutput()
		failed := new(exec.ExitError)
		require.ErrorAs(t, err, &failed, "%s", out)
		require.Equal(t, syscall.SIGKILL, failed.Sys().(syscall.WaitStatus).Signal(), "%s", out)
		require.NoFileExists(t, i.path("frontdesk.yaml"))
		for path, text := range i.texts() {
			if placed, known := whole[path]; known {
				require.Equal(t, placed, text, "what is there is whole")
			}
		}
		require.NoError(t, restore(t.Context(), a, func(string) {}))
		require.Equal(t, whole, i.texts(), "killed at %d", at)
	}
}

// TestNothingIsWrittenOver: whatever else is in a place is named and left, and nothing beside it
// is written; what fails halfway leaves nothing.
func TestNothingIsWrittenOver(t *testing.T) {
	i, kept := newInstallation(t), t.TempDir()
	a := i.archive(kept)
	require.NoError(t, restore(t.Context(), a, func(string) {}), "all is there as it is in the archive")

	begin := func() {
		t.Helper()
		require.NoError(t, os.RemoveAll(i.folder))
	}
	refused := func(part string) {
		t.Helper()
		before := i.texts()
		var way InTheWay
		require.ErrorAs(t, restore(t.Context(), a, func(string) {}), &way)
		require.Equal(t, InTheWay{i.path(part)}, way)
		require.Equal(t, before, i.texts())
	}
	for _, name := range []string{"keys.d/webshop.yaml", "data/frontdesk.db", "data/frontdesk.db-wal", "data/frontdesk.db-shm", "data/frontdesk.db-journal"} {
		begin()
		i.write(name, "somebody else's", 0o600)
		refused(name)
	}
	begin()
	require.NoError(t, restore(t.Context(), a, func(string) {}))
	i.write("data/frontdesk.db", "as the last act of a restore leaves it", 0o640)
	i.write("data/frontdesk.db-wal", "of the same", 0o640)
	require.ErrorContains(t, restore(t.Context(), a, func(string) {}), "frontdesk.db-wal\neverything else is as in the archive: if this archive was put back before")
	begin()
	require.NoError(t, os.MkdirAll(i.path("frontdesk.yaml"), 0o700))
	refused("frontdesk.yaml")
	begin()
	require.NoError(t, os.MkdirAll(i.folder, 0o700))
	require.NoError(t, os.Symlink("/nowhere", i.path("frontdesk.yaml")))
	refused("frontdesk.yaml")

	begin()
	err := restore(t.Context(), a, func(path string) {
		if path == i.path("frontdesk.yaml") {
			i.write("frontdesk.yaml", "it came meanwhile", 0o600)
		}
	})
	require.ErrorContains(t, err, "has come meanwhile")
	require.Len(t, i.texts(), 1, "nothing but what came")
	begin()
	ctx, cancel := context.WithCancel(t.Context())
	plan, err := a.Plan(ctx, all, nil)
	require.NoError(t, err)
	require.ErrorIs(t, plan.Apply(ctx, func(int64) { cancel() }, func(string) {}), context.Canceled)
	require.NoDirExists(t, i.folder)
}

// TestDamaged: no byte of an archive can be another one without being noticed before anything is
// written, and what its list says is judged.
func TestDamaged(t *testing.T) {
	i, kept := newInstallation(t), t.TempDir()
	a := i.archive(kept)
	whole, err := os.ReadFile(a.File)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(i.folder))
	tried := func(text []byte) error {
		file := filepath.Join(kept, "tried.zip")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		b, err := Open(file)
		if err != nil {
			return err
		}
		defer b.Close()
		return b.Verify(t.Context(), func(int64) {})
	}
	require.NoError(t, tried(whole))
	for at := 0; at < len(whole); at += 20 {
		broken := bytes.Clone(whole)
		broken[at] ^= 0x20
		if tried(broken) == nil { // it was of a time, or of a header that is there twice
			b, err := Open(filepath.Join(kept, "tried.zip"))
			require.NoError(t, err)
			require.Equal(t, a.Manifest, b.Manifest, "byte %d", at)
			require.NoError(t, b.Close())
		}
	}
	for _, size := range []int{0, 10, len(whole) / 2, len(whole) - 1} {
		require.Error(t, tried(whole[:size]), "%d bytes", size)
	}
	for was, is := range map[string]string{
		`"path": "` + i.path("data/frontdesk.db") + `"`: `"path": "etc/frontdesk.db"`,
		i.path("keys.d/webshop.yaml"):                   i.path("data") + "/../../../x",
		i.path("tls/key.pem"):                           i.path("frontdesk.yaml"),
		`"kind": "named"`:                               `"kind": "other"`,
		i.path("frontdesk.yaml") + "\",\n      \"kind\": \"configuration\"": i.path("frontdesk.yaml") + "\",\n      \"kind\": \"named\"",
		`"format_version": 1`:           `"format_version": 2`,
		`"mode": 416`:                   `"mode": 2541`,
		`"format": "frontdesk-archive"`: `"format": "frontdesk-backup"`,
	} {
		require.Error(t, tried(rewritten(t, a, [2]string{was, is})), "%s", is)
	}
	require.NoDirExists(t, i.folder)
}

// TestShown: no message of an archive has what a terminal obeys.
func TestShown(t *testing.T) {
	i, kept := newInstallation(t), t.TempDir()
	i.write("\x1b[2J.pem", "a certificate", 0o600)
	i.files = append(i.files, Source{Path: i.path("\x1b[2J.pem"), Kind: Named})
	a := i.archive(kept)
	i.write("\x1b[2J.pem", "another", 0o600)
	messages := []error{restore(t.Context(), a, func(string) {})}
	for _, changed := range [][][2]string{
		{{"[2J.pem", "[3J.pem"}},
		{{`"program": "`, `"program": "\u001b[2J`}, {`"format_version": 1`, `"format_version": 2`}},
	} {
		file := filepath.Join(kept, "tried.zip")
		require.NoError(t, os.WriteFile(file, rewritten(t, a, changed...), 0o600))
		b, err := Open(file)
		if err == nil {
			err = errors.Join(b.Verify(t.Context(), func(int64) {}), b.Close())
		}
		messages = append(messages, err)
	}
	for _, err := range messages {
		require.ErrorContains(t, err, `\x1b[`)
		require.NotContains(t, err.Error(), "\x1b")
	}
}

// rewritten is an archive whose list says something else.
func rewritten(t *testing.T, a *Archive, changed ...[2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range a.zip.File {
		in, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		if f.Name == manifestName {
			for _, c := range changed {
				require.Contains(t, string(text), c[0])
				text = bytes.Replace(text, []byte(c[0]), []byte(c[1]), 1)
			}
		}
		to, err := w.Create(f.Name)
		require.NoError(t, err)
		_, err = to.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// requireFiles wants a folder to have these files and no others.
func requireFiles(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.ElementsMatch(t, want, names)
}

// TestWrite: an archive is whole or not there, only one is written at a time, what one that was
// killed left goes away, and the newest are kept of one installation alone.
func TestWrite(t *testing.T) {
	i, kept := newInstallation(t), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(kept, workFolder), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(kept, workFolder, "copy"), []byte("of one that was killed"), 0o600))
	a := i.archive(kept)
	require.NoDirExists(t, filepath.Join(kept, workFolder))
	requireFiles(t, kept, filepath.Base(a.File), workLock)
	info, err := os.Stat(a.File)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	cut := errors.New("cut off")
	m := a.Manifest
	m.Parts, m.Time = nil, m.Time.Add(time.Hour)
	fails := append(i.files, Source{Path: i.path("data/frontdesk.db"), Kind: Store, Copy: func(_ context.Context, to string) error {
		work := filepath.Base(filepath.Dir(to))
		require.True(t, strings.HasPrefix(work, workFolder), work)
		requireFiles(t, kept, filepath.Base(a.File), work, workLock) // what a kill leaves now is what the next one removes
		_, err := Write(t.Context(), filepath.Join(kept, "second.zip"), m, i.files, func(int64) {})
		require.ErrorContains(t, err, "another backup is being written to "+kept)
		return cut
	}})
	_, err = Write(t.Context(), filepath.Join(kept, m.NameAt()), m, fails, func(int64) {})
	require.ErrorIs(t, err, cut)
	require.NoFileExists(t, filepath.Join(kept, m.NameAt()))

	other := newInstallation(t).archive(t.TempDir())
	foreign := filepath.Join(kept, "frontdesk-20200101T000000Z.zip")
	require.NoError(t, os.Rename(other.File, foreign))
	require.NoError(t, os.WriteFile(filepath.Join(kept, "frontdesk-20190101T000000Z.zip"), []byte("no archive"), 0o600))
	for range 3 {
		m.Time = m.Time.Add(time.Hour)
		_, err := Write(t.Context(), filepath.Join(kept, m.NameAt()), m, i.files, func(int64) {})
		require.NoError(t, err)
	}
	removed, left, err := m.Prune(kept, 2)
	require.NoError(t, err)
	require.Len(t, removed, 2)
	require.Equal(t, a.File, removed[0])
	require.Empty(t, left, "of others nothing is told")
	same, err := m.Others(kept)
	require.NoError(t, err)
	require.Len(t, same, 2)
	require.FileExists(t, foreign)
}

// TestPrune: archives that the clock made when it was ahead do not count, and what is left for good
// is told.
func TestPrune(t *testing.T) {
	i, kept := newInstallation(t), t.TempDir()
	m := Manifest{Config: i.path("frontdesk.yaml")}
	write := func(host string, at time.Time) {
		t.Helper()
		m.Host, m.Time, m.Parts = host, at, nil
		_, err := Write(t.Context(), filepath.Join(kept, m.NameAt()), m, i.files, func(int64) {})
		require.NoError(t, err)
	}
	night := time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC)
	write("web", night.AddDate(1, 0, 0))
	write("web", night.AddDate(1, 0, 1))
	write("another", night.Add(-time.Hour))
	for range 4 {
		night = night.AddDate(0, 0, 1)
		write("web", night)
		_, left, err := m.Prune(kept, 3)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"of other hosts": 1, "of a time that is yet to come": 2}, left)
	}
	same, err := m.Others(kept)
	require.NoError(t, err)
	require.Len(t, same, 3+2)
	require.Equal(t, "frontdesk-20261126T020000Z.zip", filepath.Base(same[0]))
}

// TestLockIsForAll who may write the folder: root writes one archive by hand, and the user of the
// service that of each night.
func TestLockIsForAll(t *testing.T) {
	i, kept := newInstallation(t), t.TempDir()
	require.NoError(t, os.Chmod(kept, 0o770))
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 65533, 65532
		require.NoError(t, os.Chown(kept, uid, gid))
	}
	for range 2 {
		i.archive(kept)
		info, err := os.Stat(filepath.Join(kept, workLock))
		require.NoError(t, err)
		owner := info.Sys().(*syscall.Stat_t)
		require.EqualValues(t, uid, owner.Uid)
		require.EqualValues(t, gid, owner.Gid)
		require.Equal(t, os.FileMode(0o660), info.Mode())
	}
}

// TestListIsBounded: an archive whose list would be longer than what is read again is not made.
func TestListIsBounded(t *testing.T) {
	i := newInstallation(t)
	write := func(most int) (string, error) {
		w, out := writer{ctx: t.Context(), work: t.TempDir(), m: Manifest{Config: i.path("frontdesk.yaml")}, mostList: most, progress: func(int64) {}}, new(bytes.Buffer)
		if err := w.all(out, i.files); err != nil {
			return "", err
		}
		z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		require.NoError(t, err)
		list, err := z.Open(manifestName)
		require.NoError(t, err)
		text, err := io.ReadAll(list)
		require.NoError(t, err)
		return string(text), nil
	}
	list, err := write(mostManifest)
	require.NoError(t, err)
	_, err = write(len(list))
	require.NoError(t, err)
	_, err = write(len(list) - 1)
	require.EqualError(t, err, "an archive cannot hold as many as 6 files; --no-results leaves out those of callbacks")
}

// TestRemainsAreNamed: what it says to remove as root is what is left, and nothing else, if it is pasted into a shell.
func TestRemainsAreNamed(t *testing.T) {
	var told strings.Builder
	m := Manifest{remains: []string{"/back ups; x/.frontdesk-backup-1"}}
	require.NoError(t, Backup{}.tell(desk.Program{Stdout: io.Discard, Stderr: &told}, "a.zip", false, m, time.Now(), nil))
	require.Contains(t, told.String(), "as root: rm -r '/back ups; x/.frontdesk-backup-1'\n")
}
