package sheet_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

var update = flag.Bool("update", false, "write the golden files anew")

var modelOnce = sync.OnceValues(func() (*mapping.Model, error) { return mapping.LoadModel("") })

func model(t testing.TB) *mapping.Model {
	t.Helper()
	m, err := modelOnce()
	require.NoError(t, err)
	return m
}

var options = sheet.Options{
	Env: func(name string) (string, bool) {
		value, ok := map[string]string{"DEALER_DSN": "user:hush-hush@tcp(db)/dealer", "SECRET": "hush-hush", "SERVICE_URL": "https://dms.example.nl", "EMPTY": ""}[name]
		return value, ok
	},
	RuleFields: func(rule string) []string {
		return map[string][]string{
			"order_status": {"order_status|order_id"}, "license_plate": {"license_plate", "country_id"}, "published": {"publish_status"},
			"one_owner": {"role", "vehicle_id"}, "postcode": {"postcode", "country_id"},
		}[rule]
	},
	Zone: zoneOf("Europe/Amsterdam"),
}

func zoneOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

func load(t testing.TB, file string) *sheet.Sheet {
	t.Helper()
	s, err := sheet.Load(file, model(t), options)
	require.NoError(t, err)
	return s
}

// TestBad holds every rule to the exact messages it gives.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".bad.yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			s, err := sheet.Parse(filepath.Base(file), src, model(t), options)
			problems, ok := errors.AsType[strictyaml.Problems](err)
			require.True(t, ok && s == nil, "got %v, %v, want no sheet and problems", s, err)
			got, golden := problems.Error()+"\n", strings.TrimSuffix(file, ".yaml")+".txt"
			assert.NotContains(t, got, "hush", "a secret")
			isFile(t, golden, got)
		})
	}
}

// isFile holds a text to that of a file.
func isFile(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(want), got), "(-want +got)")
}

var scalarValue = regexp.MustCompile(`: ("[^"\n]*"|'[^'\n]*'|[^\s{}\[\],"'|][^{}\[\],\n]*)`)

// TestSecretsAreInNoMessage puts a secret in the place of every value in turn.
func TestSecretsAreInNoMessage(t *testing.T) {
	for _, file := range []string{"testdata/tables.yaml", "testdata/service.yaml"} {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, at := range scalarValue.FindAllSubmatchIndex(src, -1) {
			for _, secret := range []string{"hush-hush(", "{hush.hush}"} {
				o := options
				o.Env = func(string) (string, bool) { return secret, true }
				changed := string(src[:at[2]]) + `"${SECRET}"` + string(src[at[3]:])
				_, err := sheet.Parse("a.yaml", []byte(changed), model(t), o)
				if err != nil && strings.Contains(err.Error(), "hush") {
					t.Errorf("%s: in place of %s:\n%v", file, src[at[2]:at[3]], err)
				}
			}
		}
	}
}
