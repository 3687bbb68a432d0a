package remote

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// speaking opens a connector by a sheet to what serves, with an id store. What most sheets say alike
// they need not say.
func speaking(t testing.TB, text string, serve http.Handler) *connector {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	return speakingTo(t, text, server.URL)
}

func speakingTo(t testing.TB, text, url string) *connector {
	t.Helper()
	for _, line := range []string{"format: 2", `source: {http: {url: "${SERVICE_URL}", retries: 0}}`, "keep: keep.db", `client: ""`, "rules: backend", "accounts: {users: [{username: a, email: a@example.com, password_hash: \"${FOREIGN_PASSWORD_HASH}\", client: {id: 1, name: a}}]}"} {
		if key, _, _ := strings.Cut(line, " "); !strings.Contains("\n"+text, "\n"+key) {
			text = line + "\n" + text
		}
	}
	file := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return connecting(t, loadSheetFile(t, file, url))
}

// fronted opens the driver of a sheet before what serves.
func fronted(t testing.TB, text string, serve http.Handler) *Driver {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	return openDriver(t, text, server.URL, "")
}

// connecting opens a connector by a sheet.
func connecting(t testing.TB, sh *sheet.Sheet) *connector {
	t.Helper()
	o := Options{Sheet: sh}
	if sh.NeedsKeep() {
		o.IDStore = openIDStore(t, sh.KeysWithoutCase()...)
	}
	c := must.Have(newConnector(&core{Options: o.withDefaults()}, nil))(t)
	t.Cleanup(c.close)
	return c
}

// of is a resource of the sheet.
func (c *connector) of(name string) *sheet.Resource { return c.Sheet.Resource(name) }

// record is a record of what a client sends.
func (c *connector) record(t testing.TB, resource, text string) mapping.Record {
	t.Helper()
	return patch(t, c.of(resource).Resource, text).Record
}

// keyOf is the key of a record, as the id store has it.
func (c *connector) keyOf(t taken) string {
	parts, _ := partsOf(bg(), c.Sheet.Resources[t.rec.Resource], t.raw)
	return sheet.KeyText(parts...)
}

// walked are the records of a walk, as they are taken.
func (c *connector) walked(ctx context.Context, resource string, client auth.Client) (all []taken, err error) {
	r := c.of(resource)
	_, err = c.walk(ctx, r, client, nil, func(rows []sheet.JSON) error {
		some, err := c.take(ctx, r, client, rows)
		all = append(all, some...)
		return err
	}, auth.Sleep)
	return all, err
}
