package check

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// garage is Garage Cloud behind its sheet, with words of it replaced.
func garage(t *testing.T, replace ...string) (*remote.Store, Options) {
	t.Helper()
	server := httptest.NewServer(remotetest.NewJSON(remotetest.Options{}))
	t.Cleanup(server.Close)
	return behind(t, "garagecloud", map[string]string{"GARAGE_URL": server.URL, "GARAGE_SECRET": remotetest.ClientSecret}, replace...)
}

// behind is a service behind its sheet, with words of that replaced.
func behind(t *testing.T, name string, env map[string]string, replace ...string) (*remote.Store, Options) {
	t.Helper()
	text, err := os.ReadFile("../../remote/testdata/" + name + ".yaml")
	require.NoError(t, err)
	store, o, problems := inFront(t, string(text), env, replace...)
	require.Empty(t, problems)
	return store, o
}

// inFront is a service behind a sheet, with words of that replaced; of one with problems these.
func inFront(t *testing.T, text string, env map[string]string, replace ...string) (*remote.Store, Options, strictyaml.Problems) {
	t.Helper()
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, text, replace[i])
	}
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(text)), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if problems, is := errors.AsType[strictyaml.Problems](err); is {
		return nil, Options{}, problems
	}
	require.NoError(t, err)
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	k, err := idstore.Open(t.Context(), db, idstore.Options{Now: time.Now})
	require.NoError(t, err)
	store, err := remote.Open(remote.Options{Sheet: s, IDStore: k})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store, Options{Sheet: store.Sheet, Model: model}, nil
}

func noord() auth.Client { return auth.Client{ID: 1, Name: "garage-noord"} }

func TestService(t *testing.T) {
	store, o := garage(t)
	report, err := HTTP(t.Context(), store, noord(), o)
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, report.WriteText(&text))
	require.Zero(t, report.Count(Error)+report.Count(Warning), text.String())
	require.Contains(t, text.String(), "contact: ")
	require.Contains(t, text.String(), "Not for clients: resources ")
	page, err := Page(t.Context(), o, report)
	require.NoError(t, err)
	for _, r := range page.Resources {
		for _, pair := range r.Pairs {
			if r.Name == "contact" && pair.Field.Name == "name" {
				require.Equal(t, "text", pair.Columns[0].Type)
				require.Regexp(t, "^[Xx][x ]+", pair.Columns[0].Shape, "what it looks like, and no name")
				return
			}
		}
	}
	t.Fatal("there is no name of a contact on the page")
}

// TestForeignServices: nothing is wrong with the sheets of services that nobody here
// wrote. json-server has a member only once somebody wrote it.
func TestForeignServices(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *foreigntest.System{
		"jsonserver": foreigntest.JSONServer, "loopback": foreigntest.LoopBack, "pocketbase": foreigntest.PocketBase,
	} {
		t.Run(name, func(t *testing.T) {
			store, o := behind(t, name, map[string]string{
				strings.ToUpper(name) + "_URL": start(t).URL, "POCKETBASE_PASSWORD": foreigntest.Password, "FOREIGN_PASSWORD_HASH": foreigntest.PasswordHash,
			})
			report, err := HTTP(t.Context(), store, auth.Client{ID: 1, Name: "noord"}, o)
			require.NoError(t, err)
			var text strings.Builder
			require.NoError(t, report.WriteText(&text))
			unset := report.has("http.path-missing", "resources.contact.fields.first_name")
			require.Len(t, unset, map[string]int{"jsonserver": 1}[name], text.String())
			require.Equal(t, len(unset), report.Count(Error)+report.Count(Warning), text.String())
			require.Contains(t, text.String(), "article: ")
		})
	}
}

// stuck is a service whose pages are all the first.
type stuck struct{ *remote.Store }

func (s stuck) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	q.Offset = 0
	return s.Store.List(ctx, r, q)
}

func TestServiceFindings(t *testing.T) {
	store, o := garage(t, "name: lastNameOrCompany", "name: lastName", "BUSINESS: company", "FIRM: company")
	report, err := HTTP(t.Context(), stuck{store}, noord(), o)
	require.NoError(t, err)
	missing := report.has("http.path-missing", "resources.contact.fields.name")
	require.Len(t, missing, 1, "%+v", report.Findings)
	require.Regexp(t, `^lastName is in none of \d+ answers$`, missing[0].Seen)
	require.Greater(t, missing[0].Line, 1)
	unfit := report.has("data.unfit", "resources.contact.fields.kind")
	require.NotEmpty(t, unfit, "%+v", report.Findings)
	require.Contains(t, unfit[0].Seen, `"BUSINESS": not in the code list`)
	require.NotEmpty(t, report.has("http.paging", "resources.article.operations"), "%+v", report.Findings)

	report, err = HTTP(t.Context(), store, auth.Client{ID: 9, Name: "garage-onbekend"}, o)
	require.NoError(t, err)
	require.NotEmpty(t, report.has("http.read", "resources.article"), "%+v", report.Findings)
}

// TestAnswersNameNobody: what a service answered where its list cannot be read has records
// in it, and a report is sent on.
func TestAnswersNameNobody(t *testing.T) {
	store, o := garage(t, "result: items", "result: rows")
	report, err := HTTP(t.Context(), store, noord(), o)
	require.NoError(t, err)
	found := report.has("http.read", "resources.contact")
	require.Len(t, found, 1, "%+v", report.Findings)
	require.Regexp(t, `of status 200: "\{[^a-wyz]*`, found[0].Seen)
	require.NotRegexp(t, `200: ".*[a-wyz]`, found[0].Seen)
	require.Contains(t, report.Looked, "document: not looked at, there is no contact to ask for")
}
