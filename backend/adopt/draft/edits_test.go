package draft

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
)

// The edits that make a draft the finished sheet are counted by settings: every
// key with a value of its own in either of them counts once where the other has
// none, or another. A field that is missing or one too many counts with all its
// settings, an entry of errors with all of its, a code list code by code, and a
// list of names (key.columns, arguments, zero) as one. Where a setting is, or
// whether a code list is shared or written out, does not count; nor do:
//
//   - names that are free: the variable of the DSN, the file of keep, shared lists;
//   - settings that repeat what holds without them: type: text beside a format,
//     type: integer beside decimals, generated: identity, the time zone, the number
//     of connections.
func edits(t *testing.T, draft, finished string) []string {
	t.Helper()
	have, want := settings(t, draft), settings(t, finished)
	var all []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if seen, ok := have[path]; !ok {
			all = append(all, fmt.Sprintf("add    %s: %s", path, want[path]))
		} else if seen != want[path] {
			all = append(all, fmt.Sprintf("change %s: %s, not %s", path, want[path], seen))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[path]; !ok {
			all = append(all, fmt.Sprintf("remove %s: %s", path, have[path]))
		}
	}
	return all
}

func settings(t *testing.T, text string) map[string]string {
	t.Helper()
	var whole map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &whole))
	f := flattener{out: map[string]string{}}
	f.codes, _ = whole["codes"].(map[string]any)
	for key, value := range whole {
		switch key {
		case "keep", "codes", "time_zone":
		case "source":
			database := value.(map[string]any)["sql"].(map[string]any)
			delete(database, "dsn")
			delete(database, "connections")
			f.value("source.sql", database)
		case "accounts":
			f.accounts(value.(map[string]any))
		case "errors":
			for _, e := range value.([]any) {
				entry := e.(map[string]any)
				f.value("errors["+flat(entry["when"])+" on "+flat(entry["on"])+"]", entry)
			}
		case "resources":
			for name, r := range value.(map[string]any) {
				f.resource("resources."+name, r.(map[string]any))
			}
		default:
			f.value(key, value)
		}
	}
	return f.out
}

type flattener struct {
	codes map[string]any
	out   map[string]string
}

// value flattens a value: mappings by their keys, lists as one.
func (f flattener) value(path string, value any) {
	if m, ok := value.(map[string]any); ok {
		for key, inner := range m {
			f.value(path+"."+key, inner)
		}
		if len(m) == 0 {
			f.out[path] = "{}"
		}
		return
	}
	f.out[path] = flat(value)
}

func flat(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var all []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, key+"="+flat(v[key]))
		}
		return strings.Join(all, " ")
	case []any:
		all := make([]string, len(v))
		for i := range v {
			all[i] = flat(v[i])
		}
		return strings.Join(all, ", ")
	default:
		return fmt.Sprint(v)
	}
}

func (f flattener) accounts(a map[string]any) {
	for key, value := range a {
		switch key {
		case "columns":
			for name, field := range value.(map[string]any) {
				f.field("accounts.columns."+name, field)
			}
		case "hash":
			for _, h := range value.([]any) {
				f.out["accounts.hash["+flat(h)+"]"] = "listed"
			}
		default:
			f.value("accounts."+key, value)
		}
	}
}

func (f flattener) resource(path string, r map[string]any) {
	for key, value := range r {
		switch key {
		case "fields":
			for name, field := range value.(map[string]any) {
				f.field(path+".fields."+name, field)
			}
		case "key":
			k := value.(map[string]any)
			if k["generated"] == "identity" {
				delete(k, "generated")
			}
			f.value(path+".key", k)
		default:
			f.value(path+"."+key, value)
		}
	}
}

func (f flattener) field(path string, value any) {
	m, ok := value.(map[string]any)
	if !ok {
		f.out[path+".from"] = flat(value)
		return
	}
	if m["type"] == "text" && m["format"] != nil || m["type"] == "integer" && m["decimals"] != nil || m["type"] == "decimal" {
		delete(m, "type")
	}
	if name, ok := m["codes"].(string); ok {
		m["codes"] = f.codes[name]
	}
	f.value(path, m)
}

// TestFewerThanThirtyEdits counts the edits from a draft of DEALERPAK to the
// sheet that it is served by.
func TestFewerThanThirtyEdits(t *testing.T) {
	files, err := legacytest.Files()
	require.NoError(t, err)
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			draft, _ := drafted(t, engine, start(t))
			finished, err := os.ReadFile(filepath.Join(files, engine+".yaml"))
			require.NoError(t, err)
			all := edits(t, draft, string(finished))
			t.Logf("%d edits:\n%s", len(all), strings.Join(all, "\n"))
			require.Less(t, len(all), 30)
		})
	}
}
