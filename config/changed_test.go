package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"frontdesk/config"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	require.NoError(t, errors.Join(errs...))
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
		assert.True(t, loader.Changed(), "%s: not noticed", step.name)
		_, _ = loader.Load()
		assert.False(t, loader.Changed(), "%s: noticed again", step.name)
	}
	mustLoad(t, loader)
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
	always := func() {} // behind the main file
	loader := config.NewLoader(filepath.Join(f.dir, "frontdesk.yaml"), config.Known{
		Endpoints: func(*config.Config) ([]config.Endpoint, error) {
			always()
			return endpoints, nil
		},
		Env: func(string) (string, bool) {
			each()
			return "hush-hush", true
		},
	})

	times := 0
	each = func() {
		if times++; times == 1 {
			turn("2")
		}
	}
	c := mustLoad(t, loader)
	assert.Equal(t, "PUT", c.APIKeys[0].Allow[0].Method)
	assert.Equal(t, c.APIKeys[0].Allow[0], c.APIKeys[1].Allow[0])

	// It never ends: nothing is made of that, and it is tried again later.
	always = func() {
		times++
		f.write("frontdesk.yaml", "include: [keys.d/*.yaml]\n"+strings.Repeat("#", times))
	}
	times = 0
	_, err := loader.Load()
	assert.ErrorContains(t, err, "change while they are read")
	always = func() {}
	assert.True(t, loader.Changed(), "it is tried again")
	mustLoad(t, loader)
}
