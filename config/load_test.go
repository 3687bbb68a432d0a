package config_test

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

var known = config.Known{
	Endpoints: func(*config.Config) ([]config.Endpoint, error) { return endpoints, nil },
	Env: func(name string) (string, bool) {
		value, ok := map[string]string{"SECRET": "hush-hush", "EMPTY": "", "CALLS": "32"}[name]
		return value, ok
	},
	Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
}

var endpoints = []config.Endpoint{
	{Method: "GET", Path: "/"}, {Method: "GET", Path: "/authenticate"},
	{"GET", "/order", ofOrder, ""}, {"POST", "/order", ofOrder, ""}, {"PUT", "/order", ofOrder, ""}, {Method: "DELETE", Path: "/order"},
	{Method: "GET", Path: "/vehicle"}, {Method: "POST", Path: "/vehicle"}, {Method: "PUT", Path: "/vehicle"}, {Method: "DELETE", Path: "/vehicle"},
	{Method: "PUT", Path: "/vehicle/publishstart"}, {Method: "GET", Path: "/vehicle/publishstart"},
	{Method: "GET", Path: "/model/*"}, {Method: "GET", Path: "/util/environment"}, {Method: "POST", Path: "/backup/owner"},
}

const ofOrder config.Names = "id, note, number, order_date, status"

// TestBad holds every rule to the exact messages it gives.
func TestBad(t *testing.T) {
	files := must.Have(filepath.Glob("testdata/*.bad.yaml"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".bad.yaml"), func(t *testing.T) {
			c, err := config.Load(file, known)
			problems, ok := errors.AsType[strictyaml.Problems](err)
			require.True(t, ok && c == nil, "got %v, %v, want no config and problems", c, err)
			got, golden := strings.ReplaceAll(problems.Error(), "testdata/", "")+"\n", strings.TrimSuffix(file, ".yaml")+".txt"
			assert.NotContains(t, got, "hush", "a secret")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want := must.Have(os.ReadFile(golden))(t)
			assert.Empty(t, cmp.Diff(string(want), got), "problems (-want +got)")
		})
	}
}

func TestParseOfNothingIsTheDefault(t *testing.T) {
	c := must.Have(config.Parse("empty.yaml", []byte("api_keys: []\n"), known))(t)
	assert.Empty(t, cmp.Diff(config.Default(), c, comparable), "config (-default +got)")
	assert.Equal(t, "http://127.0.0.1:8080/webservice_v2", c.Server.BaseURL())
}

// comparable makes zones equal by name and secrets comparable.
var comparable = cmp.Options{
	cmp.Comparer(func(a, b config.Zone) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b config.Secret) bool { return a == b }),
	cmpopts.IgnoreUnexported(config.Config{}, config.Key{}, config.Expiry{}),
}

// TestLoaded: what whole files say is what has changed from what goes without saying, in every setting.
func TestLoaded(t *testing.T) {
	for _, name := range []string{"contract", "full"} {
		c := must.Have(config.Load("testdata/"+name+".yaml", known))(t)
		var got strings.Builder
		for _, change := range config.Changes(config.Default(), c) {
			got.WriteString(change.String() + "\n")
		}
		if *update {
			require.NoError(t, os.WriteFile("testdata/"+name+".txt", []byte(got.String()), 0o644))
		}
		assert.Empty(t, cmp.Diff(string(must.Have(os.ReadFile("testdata/"+name+".txt"))(t)), got.String()), "changes (-want +got)")
		for i, h := range c.APIKeys[0].Hashes { // of which changes tell the beginning
			require.Equal(t, config.Digest{31: byte(i + 1)}, h.Hash)
		}
		require.EqualValues(t, "hush-hush", c.APIKeys[0].WebhookSecret[0])
		if name == "full" { // no change tells what secrets are
			require.EqualValues(t, "postgres://frontdesk:hush-hush@db/frontdesk", c.Backend.DSN)
			require.EqualValues(t, "smtp://user:hush-hush@mail.example.nl:587", c.Mail.SMTP)
			require.EqualValues(t, "${plain} $5", c.APIKeys[0].WebhookSecret[1])
		}
	}
}

func TestLoadWithoutFile(t *testing.T) {
	_, err := config.Load("testdata/none.yaml", known)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestParseLooksInTheEnvironment(t *testing.T) {
	t.Setenv("FRONTDESK_TEST_VENDOR", "Example")
	c := must.Have(config.Parse("a.yaml", []byte("server: {vendor: \"${FRONTDESK_TEST_VENDOR}\"}"), config.Known{Endpoints: known.Endpoints}))(t)
	assert.Equal(t, "Example", c.Server.Vendor)
}

// TestLost tells keys that were taken away from keys that went by mistake.
func TestLost(t *testing.T) {
	const (
		main = "include: [keys.d/*.yaml]\n"
		gone = ""
	)
	one, two := key(1, "GET /order"), key(2, "GET /order")
	both := map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": one, "keys.d/b.yaml": two}
	tests := []struct {
		name          string
		before, after map[string]string // "" is a file that is gone
		want          string            // "": nothing is lost
	}{
		{"nothing", both, nil, ""},
		{"a file is empty", both, map[string]string{"keys.d/a.yaml": "\n"}, "keys.d/a.yaml:1:1: api_keys: found no api_key, and key-1 is in force from here: bring the file back, or write api_keys: [] to end what it had"},
		{"a file has a comment only", both, map[string]string{"keys.d/a.yaml": "# soon\n"}, "keys.d/a.yaml:1:1: api_keys: found no api_key"},
		{"a file ends behind its key", both, map[string]string{"keys.d/a.yaml": "api_keys:\n"}, "keys.d/a.yaml:1:1: api_keys: found no api_key"},
		{"all files are empty", both, map[string]string{"keys.d/a.yaml": "\n", "keys.d/b.yaml": "\n"}, "keys.d/a.yaml:1:1: api_keys: found no api_key, and key-1 is in force from here: bring the file back, or write api_keys: [] to end what it had\nDIR/keys.d/b.yaml:1:1: api_keys: found no api_key, and key-2 is in force"},
		{"it says so", both, map[string]string{"keys.d/a.yaml": "api_keys: []\n"}, ""},
		{"it says so in lines", both, map[string]string{"keys.d/a.yaml": "api_keys:\n  []\n"}, ""},
		{"one key of two", map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": strings.Replace(one, "]\n", strings.Replace(two, "api_keys: [", ", ", 1), 1)}, map[string]string{"keys.d/a.yaml": one}, ""},
		{"a file has another key", both, map[string]string{"keys.d/a.yaml": key(3, "GET /order")}, ""},
		{"a file is deleted", both, map[string]string{"keys.d/a.yaml": gone}, ""},
		{"all files are deleted", both, map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, `frontdesk.yaml:1:1: include[0]: found no api_key in any file that "keys.d/*.yaml" matches, and key-1, key-2 are in force from there: bring the files back, or take the entry out, or write api_keys: [] into one of them, to end what they had`},
		{"and the pattern with them", both, map[string]string{"frontdesk.yaml": "log: {level: info}\n", "keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, ""},
		{"and the pattern is another", both, map[string]string{"frontdesk.yaml": "include: [keys.d/*]\n", "keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, `frontdesk.yaml:1:1: include[0]: found no api_key in any file that "keys.d/*" matches, and key-1, key-2 are in force`},
		{"a file says that it was meant", both, map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone, "keys.d/none.yaml": "api_keys: []\n"}, ""},
		{"but one that says so always", with(both, "keys.d/example.yaml", "api_keys: []\n"), map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, `frontdesk.yaml:1:1: include[0]: found no api_key in any file that "keys.d/*.yaml" matches, and key-1, key-2 are in force`},
		{"but a note", with(both, "keys.d/note.yaml", "# keys go here\n"), map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, `frontdesk.yaml:1:1: include[0]: found no api_key in any file`},
		{"the only file with a key is deleted", map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": one, "keys.d/example.yaml": "api_keys: []\n"}, map[string]string{"keys.d/a.yaml": gone}, ""},
		{"it has another name and is empty", map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": one, "keys.d/example.yaml": "api_keys: []\n"}, map[string]string{"keys.d/a.yaml": gone, "keys.d/c.yaml": "\n"}, `frontdesk.yaml:1:1: include[0]: found no api_key in any file`},
		{"of many", map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": one, "keys.d/b.yaml": two, "keys.d/c.yaml": key(3, "GET /order"), "keys.d/d.yaml": key(4, "GET /order"), "keys.d/e.yaml": key(5, "GET /order")},
			map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone, "keys.d/c.yaml": gone, "keys.d/d.yaml": gone, "keys.d/e.yaml": gone},
			`frontdesk.yaml:1:1: include[0]: found no api_key in any file that "keys.d/*.yaml" matches, and key-1, key-2, key-3 and 2 more are in force`},
		{"all files have other names", both, map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone, "keys.d/c.yaml": one}, ""},
		{"keys went into the main file", both, map[string]string{"frontdesk.yaml": main + one, "keys.d/a.yaml": "\n"}, ""},
		{"with their files", both, map[string]string{"frontdesk.yaml": main + one, "keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, ""},
		{"keys went out of the main file", map[string]string{"frontdesk.yaml": main + one}, map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": one}, ""},
		{"the main file has none any more", map[string]string{"frontdesk.yaml": main + one, "keys.d/b.yaml": two}, map[string]string{"frontdesk.yaml": main}, "frontdesk.yaml:1:1: api_keys: found no api_key, and key-1 is in force"},
		{"and says so", map[string]string{"frontdesk.yaml": main + one, "keys.d/b.yaml": two}, map[string]string{"frontdesk.yaml": main + "api_keys: []\n"}, ""},
		{"a file that is named", map[string]string{"frontdesk.yaml": "include: [a.yaml]\n", "a.yaml": one}, map[string]string{"a.yaml": "\n"}, "a.yaml:1:1: api_keys: found no api_key"},
		{"and is no longer", map[string]string{"frontdesk.yaml": "include: [a.yaml]\n", "a.yaml": one}, map[string]string{"frontdesk.yaml": "include: []\n", "a.yaml": "\n"}, ""},
		{"the main file is cut before its include", both, map[string]string{"frontdesk.yaml": "log: {level: info}\n"}, "frontdesk.yaml:1:1: include: found no include, and key-1, key-2 are in force from DIR/keys.d/a.yaml, which is still there: bring the line back, or write include: [] to end what it had"},
		{"its include is gone on purpose", both, map[string]string{"frontdesk.yaml": "include: []\n"}, ""},
		{"a pattern that never had keys", map[string]string{"frontdesk.yaml": main + one, "keys.d/a.yaml": "# none\n"}, map[string]string{"keys.d/a.yaml": gone}, ""},
		{"one of two patterns", map[string]string{"frontdesk.yaml": "include: [keys.d/*.yaml, more/*/*.yaml]\n", "keys.d/a.yaml": one, "more/x/b.yaml": two}, map[string]string{"more/x/b.yaml": gone},
			`frontdesk.yaml:1:1: include[1]: found no api_key in any file that "more/*/*.yaml" matches, and key-2 is in force`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFolder(t, tt.before)
			loader := f.loader()
			before := mustLoad(t, loader)
			for name, text := range tt.after {
				if text != gone {
					f.write(name, text)
				} else if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			err := config.Lost(before, mustLoad(t, loader))
			want := strings.ReplaceAll(tt.want, "DIR", f.dir)
			switch {
			case want == "" && err != nil:
				t.Errorf("lost: %v", err)
			case want != "" && (err == nil || !strings.HasPrefix(err.Error(), f.dir+"/"+want)):
				t.Errorf("lost: %v\nwant %s/%s", err, f.dir, want)
			}
		})
	}
}

// TestUnreadableFolder: a folder that cannot be read is not one without files. As root none is
// but these.
func TestUnreadableFolder(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"too many levels of symbolic links": func(dir string) error { return os.Symlink("keys.d", filepath.Join(dir, "keys.d")) },
		"not a directory":                   func(dir string) error { return os.WriteFile(filepath.Join(dir, "keys.d"), nil, 0o600) },
	} {
		for _, pattern := range []string{"keys.d/*.yaml", "keys.d/*/*.yaml"} {
			f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [\"" + pattern + "\"]\n"})
			loader := f.loader()
			mustLoad(t, loader)
			require.NoError(t, spoil(f.dir))
			_, err := loader.Load()
			require.Error(t, err)
			assert.Equal(t, f.dir+"/frontdesk.yaml:1:11: include[0]: found \""+pattern+"\", and a folder of it cannot be read: "+name+" [include-unreadable]", err.Error())
		}
	}
}

// with is files and one more.
func with(files map[string]string, name, text string) map[string]string {
	all := maps.Clone(files)
	all[name] = text
	return all
}

// TestLostHidesVariables: an entry of include may come from one.
func TestLostHidesVariables(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [\"${KEYS}/*.yaml\"]\n", "secret.d/a.yaml": key(1, "GET /order")})
	f.env["KEYS"] = "secret.d"
	loader := f.loader()
	before := mustLoad(t, loader)
	require.NoError(t, os.Remove(filepath.Join(f.dir, "secret.d/a.yaml")))
	err := config.Lost(before, mustLoad(t, loader))
	require.ErrorContains(t, err, "${KEYS}")
	assert.NotContains(t, err.Error(), "secret.d")
}
