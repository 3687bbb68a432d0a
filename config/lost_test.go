package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/config"
)

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
		{"a file is empty", both, map[string]string{"keys.d/a.yaml": "\n"}, "keys.d/a.yaml:1:1: api_keys: found none, where one api_key is in force: api_keys: [] says that they are to be gone"},
		{"a file has a comment only", both, map[string]string{"keys.d/a.yaml": "# soon\n"}, "keys.d/a.yaml:1:1: api_keys: found none"},
		{"a file ends behind its key", both, map[string]string{"keys.d/a.yaml": "api_keys:\n"}, "keys.d/a.yaml:1:1: api_keys: found none"},
		{"a file has expectations only", both, map[string]string{"keys.d/a.yaml": "expect: [{key: key-2, request: GET /order, verdict: allowed}]\n"}, "keys.d/a.yaml:1:1: api_keys: found none"},
		{"all files are empty", both, map[string]string{"keys.d/a.yaml": "\n", "keys.d/b.yaml": "\n"}, "keys.d/a.yaml:1:1: api_keys: found none, where one api_key is in force: api_keys: [] says that they are to be gone\nDIR/keys.d/b.yaml:1:1: api_keys: found none"},
		{"it says so", both, map[string]string{"keys.d/a.yaml": "api_keys: []\n"}, ""},
		{"it says so in lines", both, map[string]string{"keys.d/a.yaml": "expect: []\napi_keys:\n  []\n"}, ""},
		{"one key of two", map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": strings.Replace(one, "]\n", strings.Replace(two, "api_keys: [", ", ", 1), 1)}, map[string]string{"keys.d/a.yaml": one}, ""},
		{"a file has another key", both, map[string]string{"keys.d/a.yaml": key(3, "GET /order")}, ""},
		{"a file is deleted", both, map[string]string{"keys.d/a.yaml": gone}, ""},
		{"all files are deleted", both, map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, `frontdesk.yaml:1:1: include[0]: found no file that "keys.d/*.yaml" matches, where 2 api_keys are in force: a file that says api_keys: [], or no such entry, says that they are to be gone`},
		{"and the pattern with them", both, map[string]string{"frontdesk.yaml": "log: {level: info}\n", "keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, ""},
		{"and the pattern is another", both, map[string]string{"frontdesk.yaml": "include: [keys.d/*]\n", "keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, `frontdesk.yaml:1:1: include[0]: found no file that "keys.d/*" matches, where 2 api_keys are in force`},
		{"a file says that it was meant", both, map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone, "keys.d/none.yaml": "api_keys: []\n"}, ""},
		{"all files have other names", both, map[string]string{"keys.d/a.yaml": gone, "keys.d/b.yaml": gone, "keys.d/c.yaml": one}, ""},
		{"keys went into the main file", both, map[string]string{"frontdesk.yaml": main + one, "keys.d/a.yaml": "\n"}, ""},
		{"with their files", both, map[string]string{"frontdesk.yaml": main + one, "keys.d/a.yaml": gone, "keys.d/b.yaml": gone}, ""},
		{"keys went out of the main file", map[string]string{"frontdesk.yaml": main + one}, map[string]string{"frontdesk.yaml": main, "keys.d/a.yaml": one}, ""},
		{"the main file has none any more", map[string]string{"frontdesk.yaml": main + one, "keys.d/b.yaml": two}, map[string]string{"frontdesk.yaml": main}, "frontdesk.yaml:1:1: api_keys: found none, where one api_key is in force"},
		{"and says so", map[string]string{"frontdesk.yaml": main + one, "keys.d/b.yaml": two}, map[string]string{"frontdesk.yaml": main + "api_keys: []\n"}, ""},
		{"a file that is named", map[string]string{"frontdesk.yaml": "include: [a.yaml]\n", "a.yaml": one}, map[string]string{"a.yaml": "\n"}, "a.yaml:1:1: api_keys: found none"},
		{"and is no longer", map[string]string{"frontdesk.yaml": "include: [a.yaml]\n", "a.yaml": one}, map[string]string{"frontdesk.yaml": "log: {level: info}\n", "a.yaml": "\n"}, ""},
		{"a pattern that never had keys", map[string]string{"frontdesk.yaml": main + one, "keys.d/a.yaml": "expect: []\n"}, map[string]string{"keys.d/a.yaml": gone}, ""},
		{"one of two patterns", map[string]string{"frontdesk.yaml": "include: [keys.d/*.yaml, more/*/*.yaml]\n", "keys.d/a.yaml": one, "more/x/b.yaml": two}, map[string]string{"more/x/b.yaml": gone},
			`frontdesk.yaml:1:1: include[1]: found no file that "more/*/*.yaml" matches, where one api_key is in force`},
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

// TestLostHidesVariables: an entry of include may come from one.
func TestLostHidesVariables(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [\"${KEYS}/*.yaml\"]\n", "secret.d/a.yaml": key(1, "GET /order")})
	f.env["KEYS"] = "secret.d"
	loader := f.loader()
	before := mustLoad(t, loader)
	if err := os.Remove(filepath.Join(f.dir, "secret.d/a.yaml")); err != nil {
		t.Fatal(err)
	}
	err := config.Lost(before, mustLoad(t, loader))
	if err == nil || strings.Contains(err.Error(), "secret.d") || !strings.Contains(err.Error(), "${KEYS}") {
		t.Errorf("lost: %v", fmt.Sprint(err))
	}
}
