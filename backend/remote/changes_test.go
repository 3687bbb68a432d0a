package remote

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord"
)

// TestForeignChangesOfAService keeps copies of what PocketBase has: articles by reading all of them,
// relations by when they were changed, beside what is changed there and through the gateway.
func TestForeignChangesOfAService(t *testing.T) {
	s := foreigntest.PocketBase(t)
	text, err := os.ReadFile("testdata/pocketbase.yaml")
	require.NoError(t, err)
	sheet := strings.Replace(string(text), "\nclient: org\n", "\nclient: org\nchanges: {by: scan, every: 10ms, pause: 1ms, page: 20}\n", 1)
	sheet = strings.Replace(sheet, "\n  contact:\n", "\n  contact:\n    changes: {by: version, every: 10ms, pause: 1ms, deletions: 500ms}\n", 1)
	store := openText(t, sheet, s.URL)
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "follow.db"), sqlrecord.Options{})
	require.NoError(t, err)
	defer db.Close()
	f, err := follow.Open(t.Context(), follow.Options{Reader: store, DB: db, Sheet: store.Sheet, Log: zaptest.NewLogger(t)})
	require.NoError(t, err)
	defer f.Close()
	store.TellBy(f)
	c := front(t, store)

	copies := map[auth.Client]*drivertest.Copy{}
	for _, who := range []auth.Client{noord, zuid} {
		copies[who] = &drivertest.Copy{Client: c, Of: who, Resources: store.Sheet.Model.Resources}
		require.NoError(t, copies[who].Begin(t.Context()))
		n, err := copies[who].CatchUp(t.Context())
		require.NoError(t, err)
		require.Zero(t, n, "what was there is no change")
	}
	page, err := c.Changes(t.Context(), backend.ChangesQuery{Client: noord, Begin: true, Resources: store.Sheet.Model.Resources})
	require.NoError(t, err)
	anna := create(t, c, noord, "contact", `{"kind":"person","name":"Anna"}`)
	page, err = c.Changes(t.Context(), backend.ChangesQuery{Client: noord, After: page.Cursor, Resources: store.Sheet.Model.Resources, Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Changes, 1, "at once")
	require.Equal(t, fmt.Sprint("created ", anna.ID()), fmt.Sprint(page.Changes[0].Kind, " ", page.Changes[0].ID))

	at := func(collection string, i int) string {
		rows, err := s.Rows("/api/collections/"+collection+"/records?perPage=1000&sort=@rowid", "items")
		require.NoError(t, err)
		return fmt.Sprint("/api/collections/", collection, "/records/", rows[i]["id"])
	}
	try := func(method, path string, body any) {
		t.Helper()
		_, err := s.Try(method, path, body)
		require.NoError(t, err)
	}
	for i, collection := range []string{"parts", "contacts"} {
		text := []string{"title", "name"}[i]
		moved, hidden, shown, changed, gone := at(collection, 0), at(collection, 1), at(collection, 3), at(collection, 4), at(collection, 6)
		try(http.MethodPatch, moved, foreigntest.Object{"org": 2})
		try(http.MethodPatch, hidden, foreigntest.Object{"gone": true})
		try(http.MethodPatch, shown, foreigntest.Object{"gone": false})
		try(http.MethodPatch, changed, foreigntest.Object{text: "Other"})
		try(http.MethodDelete, gone, nil)
	}
	_, err = c.Update(t.Context(), noord, anna.ID(), patch(t, store.Sheet.Model.Resource("contact"), `{"name":"Anne"}`), backend.Write{})
	require.NoError(t, err)
	for _, of := range copies {
		require.NoError(t, of.Equals(t.Context(), ample))
	}
}
