package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"frontdesk/config"
)

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestChanged finds every change of the files that Load read, and none where there is none.
func TestChanged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(f *folder, at func(string) string) error
		not    bool // it is none
	}{
		{"nothing", func(*folder, func(string) string) error { return nil }, true},
		{"a file beside the pattern", func(f *folder, at func(string) string) error {
			f.write("keys.d/c.txt", "")
			return os.Mkdir(at("keys.d/.hidden"), 0o700)
		}, true},
		{"the main file is written", func(f *folder, _ func(string) string) error {
			f.write("frontdesk.yaml", "include: [keys.d/*.yaml, named.yaml]\n#\n")
			return nil
		}, false},
		{"an included file is written", func(f *folder, _ func(string) string) error {
			f.write("keys.d/a.yaml", key(1, "PUT /order"))
			return nil
		}, false},
		{"one more file", func(f *folder, _ func(string) string) error { f.write("keys.d/b.yaml", ""); return nil }, false},
		{"one file less", func(_ *folder, at func(string) string) error { return os.Remove(at("keys.d/a.yaml")) }, false},
		{"the main file is gone", func(_ *folder, at func(string) string) error { return os.Remove(at("frontdesk.yaml")) }, false},
		{"a file that is named is gone", func(_ *folder, at func(string) string) error { return os.Remove(at("named.yaml")) }, false},
		{"the folder is another one", func(f *folder, at func(string) string) error {
			f.write("keys.new/a.yaml", key(1, "GET /order"))
			return errors.Join(os.Rename(at("keys.d"), at("keys.old")), os.Rename(at("keys.new"), at("keys.d")))
		}, false},
		{"a link to another folder", func(f *folder, at func(string) string) error {
			f.write("keys.2/a.yaml", key(1, "PUT /order"))
			return errors.Join(os.Rename(at("keys.d"), at("keys.1")), os.Symlink("keys.2", at("keys.d")))
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [keys.d/*.yaml, named.yaml]\n", "keys.d/a.yaml": key(1, "GET /order"), "named.yaml": key(2, "GET /order")})
			loader := f.loader()
			mustLoad(t, loader)
			must(t, tt.change(f, func(name string) string { return filepath.Join(f.dir, name) }))
			if got := loader.Changed(); got == tt.not {
				t.Errorf("changed is %t", got)
			}
			_, _ = loader.Load() // whatever comes of it
			if loader.Changed() {
				t.Error("what was read is said to have changed since")
			}
		})
	}
}

// TestChangedUnseen: rsync -t --inplace and cp -p give a file the time of another, and two
// configurations may be as long.
func TestChangedUnseen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the time of the last change is asked for on Linux only")
	}
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [a.yaml]", "a.yaml": key(1, "GET /order")})
	at := filepath.Join(f.dir, "a.yaml")
	was, err := os.Stat(at)
	must(t, err)
	later := time.Now().Add(time.Hour) // by then the file has long been as it is
	loader := config.NewLoader(filepath.Join(f.dir, "frontdesk.yaml"), config.Known{
		Endpoints: known.Endpoints, Now: func() time.Time { return later },
	})
	mustLoad(t, loader)
	file, err := os.OpenFile(at, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteString(key(1, "PUT /order"))
	must(t, err, file.Close(), os.Chtimes(at, was.ModTime(), was.ModTime()))
	if !loader.Changed() {
		t.Error("the change is not noticed")
	}
	if c := mustLoad(t, loader); c.APIKeys[0].Allow[0].Method != "PUT" {
		t.Error("the change is not read")
	}
}

// TestChangedSinceProblems: of files that are wrong only a change of theirs is one, not
// that they are wrong still.
func TestChangedSinceProblems(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [a.yaml, gone.yaml]", "a.yaml": key(1, "GET /oder")})
	loader := f.loader()
	for _, step := range []struct{ name, file, text string }{
		{"an entry is wrong and a file is missing", "a.yaml", key(1, "GET /oder")},
		{"one of them is mended", "a.yaml", key(1, "GET /order")},
		{"and the other", "gone.yaml", "api_keys: []"},
		{"the main file is no YAML", "frontdesk.yaml", "include: ["},
		{"and is right again", "frontdesk.yaml", "include: [a.yaml]"},
	} {
		f.write(step.file, step.text)
		if !loader.Changed() {
			t.Errorf("%s: not noticed", step.name)
		}
		_, _ = loader.Load()
		if loader.Changed() {
			t.Errorf("%s: noticed again", step.name)
		}
	}
	if _, err := loader.Load(); err != nil {
		t.Error(err)
	}
}

// TestLoadIsOfOneMoment: files that change while they are read make no configuration of
// some of the one and some of the other.
func TestLoadIsOfOneMoment(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [keys.d/*.yaml]"})
	for version, allow := range map[string]string{"1": "GET /order", "2": "PUT /order"} {
		for i, name := range []string{"a", "b"} {
			f.write("keys."+version+"/"+name+".yaml", strings.Replace(key(i+1, allow), "expires:", `webhook_secret: ["${HUSH}"], expires:`, 1))
		}
	}
	keys := filepath.Join(f.dir, "keys.d")
	turn := func(version string) {
		must(t, os.Symlink("keys."+version, keys+".new"), os.Rename(keys+".new", keys))
	}
	turn("1")
	each := func() {} // while the first of the included files is read, and the second is not yet
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	loader := config.NewLoader(filepath.Join(f.dir, "frontdesk.yaml"), config.Known{Endpoints: known.Endpoints, Env: func(string) (string, bool) {
		each()
		return "hush-hush", true
	}})

	times := 0
	each = func() {
		if times++; times == 1 {
			turn("2")
		}
	}
	if c := mustLoad(t, loader); c.APIKeys[0].Allow[0] != c.APIKeys[1].Allow[0] || c.APIKeys[0].Allow[0].Method != "PUT" {
		t.Errorf("allowed are %v and %v", c.APIKeys[0].Allow, c.APIKeys[1].Allow)
	}

	// It never ends: nothing is made of that, and it is tried again later.
	each = func() {
		times++
		f.write("frontdesk.yaml", "include: [keys.d/*.yaml]\n"+strings.Repeat("#", times))
	}
	times = 0
	if _, err := loader.Load(); err == nil || !strings.Contains(err.Error(), "change while they are read") {
		t.Errorf("error = %v", err)
	}
	each = func() {}
	if !loader.Changed() {
		t.Error("it is not tried again")
	}
	mustLoad(t, loader)
}
