package desk

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/mapping"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Run(m)) }

// groupSheet has records whose IDs are given out.
const groupSheet = `
format: 2
source: {sql: {engine: sqlite, dsn: %q}}
keep: %q
accounts: {users: []}
resources:
  turnovergroup:
    table: grp
    key: {columns: nr, id: kept, generated: supplied}
    client: ""
    fields: {code: code, description: oms, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
    operations: {only: [get, list]}
`

// installation is a sheet with its database and its id store.
type installation struct {
	t                   *testing.T
	folder, sheet, note string
	told                *observer.ObservedLogs
}

func newInstallation(t *testing.T, keep string) *installation {
	i := &installation{t: t, folder: t.TempDir()}
	i.sheet, i.note = filepath.Join(i.folder, "dealer.yaml"), filepath.Join(i.folder, "dealer-keep.id")
	db := must.Have(sqlrecord.OpenSQLite(filepath.Join(i.folder, "dealer.db"), sqlrecord.Options{}))(t)
	require.NoError(t, db.Write(t.Context(), func(c sqlrecord.Conn) error {
		if _, err := c.Exec(t.Context(), "CREATE TABLE grp (nr TEXT PRIMARY KEY, code TEXT, oms TEXT)"); err != nil {
			return err
		}
		_, err := c.Exec(t.Context(), "INSERT INTO grp VALUES ('AB01', 'AB01', 'first'), ('AB02', 'AB02', 'second')")
		return err
	}))
	require.NoError(t, db.Close())
	i.keepIn(keep)
	return i
}

// keepIn writes the sheet.
func (i *installation) keepIn(keep string) {
	text := fmt.Sprintf(groupSheet, filepath.Join(i.folder, "dealer.db"), keep)
	require.NoError(i.t, os.WriteFile(i.sheet, []byte(text), 0o600))
}

// start opens the system as serve does, reads all groups, and closes it.
func (i *installation) start() (ids []int32, err error) {
	core, told := observer.New(zap.InfoLevel)
	i.told = told
	c := &config.Config{Backend: config.Backend{Driver: "legacy", Sheet: i.sheet}}
	s, err := OpenSystem(context.Background(), c, auth.NewHasher(), zap.New(core))
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(i.t, s.Close()) }()
	page := must.Have(s.driver.List(i.t.Context(), s.model.Resource("turnovergroup"), backend.Query{Client: auth.Client{ID: 1}, Sort: []backend.Order{}}))(i.t)
	for _, rec := range page.Records {
		ids = append(ids, rec.ID())
	}
	require.Len(i.t, ids, 2)
	return ids, nil
}

func (i *installation) mustStart() []int32 {
	return must.Have(i.start())(i.t)
}

// TestIDStoreIsLost: the IDs that clients know must not silently come to mean other
// records.
func TestIDStoreIsLost(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		i := newInstallation(t, "ids.db")
		first := i.mustStart()
		require.Equal(t, first, i.mustStart(), "nothing is to be done for a second start")
		store := filepath.Join(i.folder, "ids.db")
		require.NoError(t, os.Rename(store, store+".away"))
		_, err := i.start()
		require.ErrorContains(t, err, "is not there")
		require.ErrorContains(t, err, "restore it from its backup")
		require.ErrorContains(t, err, "remove "+i.note)
		require.NoFileExists(t, store, "a new one would be in the backup's way")

		require.NoError(t, os.Rename(store+".away", store))
		require.Equal(t, first, i.mustStart(), "restored")

		require.NoError(t, os.Remove(store))
		require.NoError(t, os.Remove(i.note))
		require.NotEmpty(t, i.mustStart())
		require.FileExists(t, i.note)
	})
	t.Run("postgres", func(t *testing.T) {
		i := newInstallation(t, sqltest.Postgres(t))
		i.mustStart()
		other := sqltest.Postgres(t)
		i.keepIn(other)
		_, err := i.start()
		require.ErrorContains(t, err, "another id store")
		require.NotContains(t, err.Error(), "postgres://", "the DSN has a password")
		db := must.Have(sqlrecord.OpenPostgres(t.Context(), other, sqlrecord.Options{}))(t)
		require.Empty(t, tablesOf(t, db), "a backup has to go there")
		require.NoError(t, db.Close())
		require.NoError(t, os.Remove(i.note))
		require.NotEmpty(t, i.mustStart())
	})
}

func tablesOf(t *testing.T, db sqlrecord.DB) (names []string) {
	text := []sqlrecord.Column{{Type: mapping.Text}}
	require.NoError(t, db.Read(t.Context(), func(c sqlrecord.Conn) error {
		return c.Query(t.Context(), "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()", text, nil, func(row []mapping.Value) error {
			names = append(names, row[0].Text())
			return nil
		})
	}))
	return names
}

// TestIDStoreOfAnother: the store of another installation is refused.
func TestIDStoreOfAnother(t *testing.T) {
	mine, other := newInstallation(t, "ids.db"), newInstallation(t, "ids.db")
	mine.mustStart()
	other.mustStart()
	mine.keepIn(filepath.Join(other.folder, "ids.db"))
	_, err := mine.start()
	require.ErrorContains(t, err, "another id store")
	noted, readErr := os.ReadFile(other.note)
	require.NoError(t, readErr)
	theirs, _, _ := strings.Cut(string(noted), "\n")
	require.ErrorContains(t, err, theirs)
	require.NoError(t, os.WriteFile(mine.note, []byte("nothing\n"), 0o600))
	require.ErrorContains(t, must.Fail(mine.start()), `expected the UUID of an id store on its first line, found "nothing"`)
}

// TestIDStoreCannotBeNoted: where the program cannot write beside the sheet it starts
// all the same, and the log says what to do.
func TestIDStoreCannotBeNoted(t *testing.T) {
	i := newInstallation(t, "ids.db")
	require.NoError(t, os.MkdirAll(i.note, 0o700))
	require.ErrorContains(t, must.Fail(i.start()), i.note, "it is no file")

	name := strings.Repeat("n", 240) // a file beside it has a name that is too long
	require.NoError(t, os.Rename(i.sheet, filepath.Join(i.folder, name+".yaml")))
	i.sheet = filepath.Join(i.folder, name+".yaml")
	for range 2 {
		i.mustStart()
		warned := i.told.FilterMessageSnippet("nobody would notice its loss").All()
		require.Len(t, warned, 1)
		require.Equal(t, filepath.Join(i.folder, name+"-keep.id"), warned[0].ContextMap()["file"])
		require.NoError(t, uuid.Validate(warned[0].ContextMap()["store"].(string)))
	}
}

// TestOneGatewayPerFile: whoever serves from a SQLite file takes up the jobs that it
// finds there, and has the turns of writers to itself; so a second one is refused.
func TestOneGatewayPerFile(t *testing.T) {
	i := newInstallation(t, "ids.db")
	build := func() (*Desk, error) {
		file := filepath.Join(t.TempDir(), "frontdesk.yaml")
		text := fmt.Sprintf("server: {listen: '127.0.0.1:0', vendor: Dealer}\nops: {listen: ''}\nbackend: {driver: legacy, sheet: %q}\nmail: {folder: %q}\napi_keys: []\n", i.sheet, t.TempDir())
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		c := must.Have(LoadConfig(file))(t)
		return Build(Program{Ctx: t.Context(), Stdout: io.Discard, Stderr: io.Discard}, c, "test", NoLogs())
	}
	first := must.Have(build())(t)
	second, err := build()
	if err == nil {
		second.Close()
	}
	require.ErrorContains(t, err, "ids.db is served by another frontdesk")
	require.NoError(t, os.Symlink(filepath.Join(i.folder, "ids.db"), filepath.Join(i.folder, "link.db")))
	i.keepIn("link.db")
	third, err := build()
	if err == nil {
		third.Close()
	}
	require.ErrorContains(t, err, "link.db is served by another frontdesk")
	i.keepIn("ids.db")
	first.Close()
	again := must.Have(build())(t)
	again.Close()
}
