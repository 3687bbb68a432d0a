package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// leaves are the paths of all that a type of the configuration can hold, as a line of
// YAML each, with %s for the value.
func leaves(of reflect.Type) (all []string) {
	switch {
	case of.Kind() == reflect.Pointer:
		return leaves(of.Elem())
	case of.Kind() == reflect.Slice:
		for _, inner := range leaves(of.Elem()) {
			all = append(all, "["+inner+"]")
		}
		return append(all, "%s")
	case of.Kind() == reflect.Struct:
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
			if name == "" {
				continue
			}
			for _, inner := range leaves(of.Field(i).Type) {
				all = append(all, "{"+name+": "+inner+"}")
			}
		}
	}
	if len(all) == 0 || of == reflect.TypeFor[config.KeyHash]() {
		all = append(all, "%s")
	}
	return all
}

// TestVariablesAreNotRepeated puts variables of the environment where nothing of the kind
// belongs, everywhere: no message repeats what they hold.
func TestVariablesAreNotRepeated(t *testing.T) {
	folder := t.TempDir()
	hushes := map[string]string{
		"TEXT": "hush-hush", "LONG": strings.Repeat("hush", 40), "QUOTED": "hush\"\\\x1b\n\"hush", "NUMBER": "-98765432", "LARGE": "98765432109876543210",
		"TIME": "-98765432s", "URL": "ftp://hush:hush@hush/hush?hush#hush", "RULE": "GET /hush", "RANGE": "10.98.76.54/8", "DIRECTORY": folder,
	}
	env := known
	env.Env = func(name string) (string, bool) { value, ok := hushes[name]; return value, ok }
	forms := []string{`"${%s}"`, `"x${%s}"`}
	problems := 0
	for _, leaf := range leaves(reflect.TypeFor[config.Config]()) {
		for name, hush := range hushes {
			for _, form := range forms[:1+len(name)%2] {
				text := fmt.Sprintf(leaf, fmt.Sprintf(form, name))
				file := filepath.Join(folder, "frontdesk.yaml")
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				_, err := config.Load(file, env)
				if err == nil {
					continue
				}
				found, ok := errors.AsType[strictyaml.Problems](err)
				require.True(t, ok, "%s: %v", text, err)
				for _, p := range found {
					problems++
					if said := strings.ToLower(p.Message); strings.Contains(said, "hush") || strings.Contains(said, "98765432") || strings.Contains(said, "98.76") || name == "DIRECTORY" && strings.Contains(p.Message, hush) {
						t.Errorf("%s is repeated: %s\n%s", name, p, text)
					}
				}
			}
		}
	}
	assert.GreaterOrEqual(t, problems, 500)
}

// TestVariablesAreNotToldAsChanges: what a variable held before, and holds now, is no
// part of what has changed.
func TestVariablesAreNotToldAsChanges(t *testing.T) {
	held := "hush-before"
	env := known
	env.Env = func(string) (string, bool) { return held, true }
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	text := "server: {vendor: \"${NAME}\", public_url: \"https://${NAME}/api\"}\nwebhooks: {allow_hosts: [\"${NAME}\", other]}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	before := mustLoad(t, config.NewLoader(file, env))
	held = "hush-after"
	var told []string
	for _, change := range config.Changes(before, mustLoad(t, config.NewLoader(file, env))) {
		told = append(told, change.String())
	}
	want := []string{
		"server.public_url: https://${NAME}/api changed", "server.vendor: ${NAME} changed", "webhooks.allow_hosts: - ${NAME}", "webhooks.allow_hosts: + ${NAME}",
	}
	assert.Empty(t, cmp.Diff(want, told), "changes (-want +got)")
}
