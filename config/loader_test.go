package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
)

// folder is a folder of configuration files.
type folder struct {
	*testing.T
	dir string
	env map[string]string
}

func newFolder(t *testing.T, files map[string]string) *folder {
	f := &folder{T: t, dir: t.TempDir(), env: map[string]string{}}
	for name, text := range files {
		f.write(name, text)
	}
	return f
}

// write writes a file that has long been as it is.
func (f *folder) write(name, text string) {
	f.Helper()
	path := filepath.Join(f.dir, name)
	long := time.Now().Add(-time.Hour)
	for _, err := range []error{os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, long, long)} {
		require.NoError(f, err)
	}
}

func (f *folder) loader() *config.Loader {
	return config.NewLoader(filepath.Join(f.dir, "frontdesk.yaml"), config.Known{
		Endpoints: known.Endpoints,
		Env:       func(name string) (string, bool) { value, ok := f.env[name]; return value, ok },
	})
}

func key(n int, allow string) string {
	return fmt.Sprintf("api_keys: [{name: key-%d, key_sha256: [\"%064x\"], expires: 2027-06-30, allow: [%s]}]\n", n, n, allow)
}

// names lists the keys, and parsed tells for each whether its allowlist is another
// one in memory than before: whether its file was parsed again.
func names(c *config.Config) (all []string) {
	for _, k := range c.APIKeys {
		all = append(all, k.Name)
	}
	return all
}

func parsed(before, after *config.Config) (again []string) {
	was := map[string]*config.Rule{}
	for _, k := range before.APIKeys {
		was[k.Name] = unsafe.SliceData(k.Allow)
	}
	for _, k := range after.APIKeys {
		if was[k.Name] != unsafe.SliceData(k.Allow) {
			again = append(again, k.Name)
		}
	}
	return again
}

func TestLoaderParsesOnlyWhatChanged(t *testing.T) {
	f := newFolder(t, map[string]string{
		"frontdesk.yaml": "include: [keys.d/*.yaml]\n" + key(3, "GET /order"),
		"keys.d/b.yaml":  key(2, "GET /order"), "keys.d/a.yaml": key(1, "GET /order"), "keys.d/c.txt": "not meant",
	})
	loader := f.loader()
	first := mustLoad(t, loader)
	require.Empty(t, cmp.Diff([]string{"key-3", "key-1", "key-2"}, names(first)))
	second := mustLoad(t, loader)
	assert.Empty(t, parsed(first, second))
	assert.Equal(t, first.Hash(), second.Hash())
	assert.Regexp(t, `^[0-9a-f]{12}$`, first.Hash())
	f.write("keys.d/b.yaml", key(2, "PUT /order"))
	now := time.Now()
	require.NoError(t, os.Chtimes(filepath.Join(f.dir, "keys.d/a.yaml"), now, now)) // as it was, but for its time
	third := mustLoad(t, loader)
	assert.Equal(t, []string{"key-2"}, parsed(second, third))
	assert.NotEqual(t, second.Hash(), third.Hash())
	if third.APIKeys[2].Allow[0].Method != "PUT" || second.APIKeys[2].Allow[0].Method != "GET" {
		t.Error("a load changed what the one before gave")
	}
	f.write("keys.d/b.yaml", key(2, "GET /order"))
	assert.Equal(t, first.Hash(), mustLoad(t, loader).Hash(), "of the same contents")
}

// TestLoaderSeesWhatItsTimeDoesNotTell: two changes within a tick of the file
// system's clock, to as many bytes.
func TestLoaderSeesWhatItsTimeDoesNotTell(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [a.yaml]"})
	path := filepath.Join(f.dir, "a.yaml")
	now := time.Now()
	loader := f.loader()
	for _, allow := range []string{"GET /order", "PUT /order", "GET /order"} {
		for _, err := range []error{os.WriteFile(path, []byte(key(1, allow)), 0o600), os.Chtimes(path, now, now)} {
			require.NoError(t, err)
		}
		assert.Equal(t, allow, mustLoad(t, loader).APIKeys[0].Allow[0].String())
	}
}

// TestLoaderJudgesAnew: what a file means hangs on the main one.
func TestLoaderJudgesAnew(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [a.yaml]", "a.yaml": key(1, "GET /order")})
	loader := f.loader()
	before := mustLoad(t, loader).APIKeys[0].Expires
	f.write("frontdesk.yaml", "include: [a.yaml]\nserver: {time_zone: UTC}")
	assert.Equal(t, before.Add(2*time.Hour), mustLoad(t, loader).APIKeys[0].Expires.In(before.Location()))
}

// TestHashTellsVariables apart, which two gateways may have set otherwise.
func TestHashTellsVariables(t *testing.T) {
	f := newFolder(t, map[string]string{
		"frontdesk.yaml": "include: [a.yaml]\nserver: {vendor: \"${VENDOR}\"}",
		"a.yaml":         strings.Replace(key(1, "GET /order"), "expires:", `webhook_secret: ["${HUSH}"], expires:`, 1),
	})
	f.env["VENDOR"], f.env["HUSH"] = "Example", "first"
	first := mustLoad(t, f.loader())
	f.env["HUSH"] = "second"
	second := mustLoad(t, f.loader())
	f.env["VENDOR"] = "Other"
	third := mustLoad(t, f.loader())
	require.Len(t, map[string]bool{first.Hash(): true, second.Hash(): true, third.Hash(): true}, 3)
}

// TestLoaderFollowsSwaps: a ConfigMap is mounted as links to a link to a folder,
// which is replaced as a whole.
func TestLoaderFollowsSwaps(t *testing.T) {
	f := newFolder(t, map[string]string{
		"frontdesk.yaml":       "include: [keys.d/*]",
		"keys.d/..1/keys.yaml": key(1, "GET /order"), "keys.d/..2/keys.yaml": key(1, "PUT /order"),
		"keys.d/.hidden.yaml": "[", "keys.d/keys.yaml~": "[", "keys.d/#keys.yaml#": "[", "keys.d/keys.yaml.bak": "[", "keys.d/folder/x.yaml": "[",
	})
	link := func(to, name string) {
		path := filepath.Join(f.dir, "keys.d", name)
		require.NoError(t, os.Symlink(to, path+".tmp"))
		require.NoError(t, os.Rename(path+".tmp", path))
	}
	link("..1", "..data")
	link("..data/keys.yaml", "keys.yaml")
	loader := f.loader()
	c := mustLoad(t, loader)
	require.Equal(t, "GET", c.APIKeys[0].Allow[0].Method)
	require.Len(t, c.Files(), 2)
	link("..2", "..data")
	assert.Equal(t, "PUT", mustLoad(t, loader).APIKeys[0].Allow[0].Method, "after the swap")
}

// TestLoaderReadsNoFileWithoutEnd: reading it would end a gateway that serves.
func TestLoaderReadsNoFileWithoutEnd(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [keys.d/*.yaml]", "keys.d/large.yaml": ""})
	require.NoError(t, os.Truncate(filepath.Join(f.dir, "keys.d/large.yaml"), 64<<20+1))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(f.dir, "keys.d/zero.yaml")))
	_, err := f.loader().Load()
	for _, want := range []string{"keys.d/large.yaml: is larger than 64 MiB", "keys.d/zero.yaml: is no regular file"} {
		assert.ErrorContains(t, err, want)
	}
}

// TestLoaderServing: while a gateway serves, keys may be allowed what it serves and what it would
// serve after a restart, as far as that was ever known.
func TestLoaderServing(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": key(1, "GET /order")})
	offered, wrong := "/order", error(nil)
	loader := config.NewLoader(filepath.Join(f.dir, "frontdesk.yaml"), config.Known{Endpoints: func(*config.Config) ([]config.Endpoint, error) {
		return []config.Endpoint{{Method: "GET", Path: offered}}, wrong
	}})
	mustLoad(t, loader)
	loader.Serving()
	for _, test := range []struct {
		offered string
		wrong   error
		allowed []string
	}{
		{"/order", nil, []string{"/order"}},
		{"/stock", nil, []string{"/order", "/stock"}},
		{"", errors.New("it is broken"), []string{"/order", "/stock"}},
		{"/parts", nil, []string{"/order", "/parts"}},
	} {
		offered, wrong = test.offered, test.wrong
		for _, path := range []string{"/order", "/stock", "/parts"} {
			f.write("frontdesk.yaml", key(1, "GET "+path))
			_, err := loader.Load()
			assert.Equal(t, slices.Contains(test.allowed, path), err == nil, "beside %s, %v: GET %s: error = %v", test.offered, test.wrong, path, err)
		}
	}
}

func TestPlaces(t *testing.T) {
	f := newFolder(t, map[string]string{
		"frontdesk.yaml": "ops:\n  listen: \"\"\ninclude: [a.yaml]\n",
	})
	f.write("a.yaml", fmt.Sprintf("api_keys:\n\n  - key_sha256: [%064x]\n    name: webshop\n    allow: &both\n      - GET /order\n\n      - PUT /order\n  - {name: other, key_sha256: [%064x], allow: *both}\n", 1, 2))
	c := mustLoad(t, f.loader())
	at := func(p config.Place) string { return strings.TrimPrefix(p.String(), f.dir+"/") }
	got := []string{
		at(c.APIKeys[0].At()), at(c.APIKeys[0].AllowAt(0)), at(c.APIKeys[0].AllowAt(1)), at(c.APIKeys[1].At()), at(c.APIKeys[1].AllowAt(1)),
		at(c.At("ops.listen")), at(c.At("server.tls")),
	}
	want := []string{"a.yaml:3", "a.yaml:6", "a.yaml:8", "a.yaml:9", "a.yaml:9", "frontdesk.yaml:2", "frontdesk.yaml:1"}
	assert.Empty(t, cmp.Diff(want, got), "places (-want +got)")
	assert.Zero(t, (&config.Key{}).AllowAt(3), "a key of no file")
}

// TestNamesThatCannotBeSeen: a name with control characters could forge what is said of
// files.
func TestNamesThatCannotBeSeen(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [keys.d/*.yaml]\n", "keys.d/a\x1b[31m\nb.yaml": key(1, `"GET /order"`)})
	_, err := f.loader().Load()
	want := filepath.Join(f.dir, "frontdesk.yaml") + ":1:11: include[0]: found \"keys.d/*.yaml\", and a file " +
		fmt.Sprintf("%q", filepath.Join(f.dir, "keys.d", "a\x1b[31m\nb.yaml")) + ", expected no characters in names that cannot be seen [include-pattern]"
	assert.EqualError(t, err, want)
}

// many are as many endpoints as the interface has, and more.
var many = func() (all []config.Endpoint) {
	for i := range 40 {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			all = append(all, config.Endpoint{Method: method, Path: fmt.Sprintf("/resource%d", i)})
		}
	}
	return all
}()

var knownMany = config.Known{
	Endpoints: func(*config.Config) ([]config.Endpoint, error) { return many, nil },
}

const (
	manyKeys    = 10_000
	manyEntries = 100
)

// writeKeys makes a configuration of many keys with many entries each, over as
// many files, and returns where it is.
func writeKeys(t testing.TB, files int) (path string) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "keys.d"), 0o700))
	perFile := manyKeys / files
	for file := range files {
		writeKeyFile(t, dir, file, file*perFile, perFile, "2027-12-31")
	}
	path = filepath.Join(dir, "frontdesk.yaml")
	require.NoError(t, os.WriteFile(path, []byte("include: [keys.d/*.yaml]\n"), 0o600))
	return path
}

func writeKeyFile(t testing.TB, dir string, file, first, n int, expires string) {
	var b strings.Builder
	b.WriteString("api_keys:\n")
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, "  - name: key-%05d\n    key_sha256: [\"%064x\"]\n    expires: %s\n    rate: {per_second: 20, burst: 40}\n    allow:\n", i, i+1, expires)
		for e := range manyEntries {
			entry := many[(i+e)%len(many)]
			fmt.Fprintf(&b, "      - %s %s\n", entry.Method, entry.Path)
		}
	}
	name := filepath.Join(dir, "keys.d", fmt.Sprintf("%05d.yaml", file))
	require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o600))
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(name, long, long))
}

// liveHeap is what the heap holds that is in use.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkLoad reads a large configuration for the first time, and again after
// one of its files has changed.
func BenchmarkLoad(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		path := writeKeys(b, files)
		b.Run(fmt.Sprintf("cold/files=%d", files), func(b *testing.B) {
			before := liveHeap()
			var loader *config.Loader
			var c *config.Config
			for b.Loop() {
				loader = config.NewLoader(path, knownMany)
				c = mustLoad(b, loader)
			}
			b.ReportMetric(float64(liveHeap()-before)/(1<<20), "live-MiB")
			if len(c.APIKeys) != manyKeys || len(c.APIKeys[0].Allow) != manyEntries {
				b.Fatal("keys are missing")
			}
			runtime.KeepAlive(loader)
		})
		b.Run(fmt.Sprintf("reload/files=%d", files), func(b *testing.B) {
			loader := config.NewLoader(path, knownMany)
			hash := mustLoad(b, loader).Hash()
			day := 0
			for b.Loop() {
				b.StopTimer()
				day++
				writeKeyFile(b, filepath.Dir(path), 0, 0, manyKeys/files, fmt.Sprintf("2028-01-%02d", day%28+1))
				b.StartTimer()
				c := mustLoad(b, loader)
				if c.Hash() == hash {
					b.Fatal("a change was not seen")
				}
				hash = c.Hash()
			}
		})
		b.Run(fmt.Sprintf("unchanged/files=%d", files), func(b *testing.B) {
			loader := config.NewLoader(path, knownMany)
			mustLoad(b, loader)
			for b.Loop() {
				mustLoad(b, loader)
			}
		})
	}
}

func mustLoad(t testing.TB, loader *config.Loader) *config.Config {
	t.Helper()
	return must.Have(loader.Load())(t)
}
