package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/backendtest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// bare is a system that has no records, and what a sheet says of operations.
type bare struct{ *sheet.Sheet }

func (bare) Get(context.Context, *mapping.Resource, backend.Query) (mapping.Record, error) {
	return mapping.Record{}, backend.ErrNotFound
}
func (bare) List(context.Context, *mapping.Resource, backend.Query) (backend.Page, error) {
	return backend.Page{}, nil
}
func (b bare) Write(context.Context, func(backend.Tx) error) error { return backend.ErrUnexpected }
func (b bare) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "bare", OwnRules: true}
}
func (b bare) Close() error { return nil }

// TestSheetsTakeWhatIsDescribed: on every sheet in the tree the gateway takes each value
// that the description names of a parameter of a list. That drivers do too, the
// conformance suite asks of those that are served (list.described).
func TestSheetsTakeWhatIsDescribed(t *testing.T) {
	var sheets []string
	for _, pattern := range []string{"../backend/*/testdata/*.yaml", "../backend/*/testdata/*/*.yaml", "../mapping/sheet/testdata/*.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		sheets = append(sheets, found...)
	}
	hash, err := argon2id.CreateHash("demo", argon2id.DefaultParams)
	require.NoError(t, err)
	env := func(name string) (string, bool) {
		if strings.HasSuffix(name, "_HASH") {
			return hash, true
		}
		return "http://127.0.0.1", true
	}
	model, err := sampleModel()
	require.NoError(t, err)
	asked := 0
	for _, file := range sheets {
		// Exceptions of the conformance suite lie beside sheets, and in lijn.yaml are
		// resources without what their rules work with: it is the loader's alone.
		if strings.Contains(file, ".bad.") || strings.HasSuffix(file, "exceptions.yaml") || filepath.Base(file) == "lijn.yaml" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, err := sheet.Load(file, model, sheet.Options{Env: env})
			require.NoError(t, err)
			h := newFixture(t, func(_ *fixture, o *Options) {
				client, err := backend.NewClient(bare{s}, s.Model, backend.Options{Timeout: time.Minute})
				require.NoError(t, err)
				o.Offer, o.Backend = client.Offer(), client
			})
			demo := h.as("demo")
			var description struct {
				Paths map[string]map[string]struct{ Parameters []backendtest.Parameter }
			}
			require.NoError(t, json.Unmarshal([]byte(h.description(t, keyAll).text), &description))
			for path, operations := range description.Paths {
				if s.Model.Resource(strings.TrimPrefix(path, "/")) == nil {
					continue
				}
				parameters := operations["get"].Parameters
				required := ""
				for _, p := range parameters {
					if p.Required {
						required += "&" + p.Name + "=" + url.QueryEscape(p.Values()[0])
					}
				}
				for _, p := range parameters {
					for _, value := range p.Values() {
						if p.In != "query" || p.Required {
							continue
						}
						target := path + "?" + p.Name + "=" + url.QueryEscape(value) + required
						a := demo.ask("GET", target, "")
						require.Equal(t, http.StatusOK, a.status, "%s: %s", target, a.body)
						asked++
					}
				}
			}
		})
	}
	require.Greater(t, asked, 4000)
}
