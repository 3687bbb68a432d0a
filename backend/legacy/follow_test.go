package legacy

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// ownDatabases opens a database of the gateway's own, of PostgreSQL for PostgreSQL: the same for
// each gateway that calls open.
func ownDatabases(t testing.TB, engine string) (open func() sqlrecord.DB) {
	t.Helper()
	dsn, file := "", filepath.Join(t.TempDir(), "follow.db")
	if engine == "postgres" {
		dsn = sqltest.Postgres(t)
	}
	return func() (db sqlrecord.DB) {
		var err error
		if dsn != "" {
			db, err = sqlrecord.OpenPostgres(t.Context(), dsn, sqlrecord.Options{})
		} else {
			db, err = sqlrecord.OpenSQLite(file, sqlrecord.Options{})
		}
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
}

// scanned and noted are the systems of testdata/scripts/changes.txt.
const scanned, noted = "all is read again and again", "what a table names"

// onSQLite is such a system in SQLite, with words of its sheet replaced, and a database of the gateway's own.
func onSQLite(t *testing.T, name string, replace ...string) (*tables, sqlrecord.DB) {
	t.Helper()
	s := scripted(t, "changes.txt", name)
	text := strings.NewReplacer(replace...).Replace(s.text(t, "sqlite"))
	return onTables(t, "sqlite", text, s.of("tables", "sqlite")...), ownDatabases(t, "sqlite")()
}

// inBubble runs f on such a system at a clock of its own, which goes on when all wait.
func inBubble(t *testing.T, name string, f func(t *testing.T, x *tables, db sqlrecord.DB), replace ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x, db := onSQLite(t, name, replace...)
		x.fixture.t = struct{ testing.TB }{t} // which has no end of the test run in a bubble
		f(t, x, db)
	})
}

// seldom has the system looked at by the hour.
func (x *tables) seldom() {
	for _, r := range x.sheet.Resources {
		r.Changes.Every = time.Hour
	}
}

// asked is what a Follower asks a Store for, before it is answered, or its answer to a list or a
// journal: n are the records, or whether there is more.
type asked struct {
	what     string
	resource *mapping.Resource
	of       auth.Client
	n        int
}

// heard is a Store that tells what it is asked, and fails where hear does.
type heard struct {
	*Store
	hear func(ctx context.Context, a asked) error
}

func (h heard) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if err := h.hear(ctx, asked{"get", r, q.Client, 1}); err != nil {
		return mapping.Record{}, err
	}
	return h.Store.Get(ctx, r, q)
}

func (h heard) List(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	if err = h.hear(ctx, asked{"list", r, q.Client, 0}); err == nil {
		page, err = h.Store.List(ctx, r, q)
	}
	if err == nil {
		err = h.hear(ctx, asked{"listed", r, q.Client, len(page.Records)})
	}
	return page, err
}

func (h heard) Named(ctx context.Context, r *mapping.Resource, of auth.Client, keys [][]string) ([]mapping.Record, []int32, error) {
	if err := h.hear(ctx, asked{"named", r, of, len(keys)}); err != nil {
		return nil, nil, err
	}
	return h.Store.Named(ctx, r, of, keys)
}

func (h heard) Entries(ctx context.Context, r *mapping.Resource, of auth.Client, after string, most int) (page follow.Entries, err error) {
	if err = h.hear(ctx, asked{"entries", r, of, 0}); err == nil {
		page, err = h.Store.Entries(ctx, r, of, after, most)
	}
	if err == nil {
		err = h.hear(ctx, asked{"more", r, of, b2i(page.More)})
	}
	return page, err
}

// follows has a Store tell changes; hear hears what it is asked for them, nil for nobody.
func (x *tables) follows(db sqlrecord.DB, hear func(context.Context, asked) error) *follow.Follower {
	x.t.Helper()
	o := follow.Options{Reader: x.Store, DB: db, Sheet: x.sheet, Lease: 200 * time.Millisecond, Log: zaptest.NewLogger(x.t)}
	if hear != nil {
		o.Reader = heard{x.Store, hear}
	}
	f, err := follow.Open(x.t.Context(), o)
	require.NoError(x.t, err)
	x.t.Cleanup(func() { require.NoError(x.t, f.Close()) })
	x.SetFollower(f)
	return f
}

// prepared makes the tables of what is followed, and runs statements before anybody looks.
func (x *tables) prepared(db sqlrecord.DB, statements ...string) {
	x.t.Helper()
	require.NoError(x.t, x.follows(db, nil).Close())
	for _, statement := range statements {
		_, err := sqlrecord.Change(x.t.Context(), db, statement)
		require.NoError(x.t, err, statement)
	}
}

// beginning is what a client asks who begins to follow resources.
func beginning(of auth.Client, resources ...*mapping.Resource) backend.ChangesQuery {
	return backend.ChangesQuery{Client: of, Begin: true, Resources: resources}
}

func (x *tables) cursor(of auth.Client) string {
	x.t.Helper()
	page, err := x.front.Changes(x.t.Context(), beginning(of, x.model.Resources...))
	require.NoError(x.t, err)
	return page.Cursor
}

// changed are the changes after a cursor: "updated 3" of a contact, of others their resource too.
func (x *tables) changed(of auth.Client, after string) string {
	x.t.Helper()
	page, err := x.front.Changes(x.t.Context(), backend.ChangesQuery{Client: of, After: after, Resources: x.model.Resources, Limit: 100})
	if mapping.Is(err, mapping.CursorGone) {
		return string(mapping.CursorGone)
	}
	require.NoError(x.t, err)
	var told []string
	for _, c := range page.Changes {
		told = append(told, strings.TrimPrefix(fmt.Sprint(c.Resource.Name, " ", c.Kind, " ", c.ID), "contact "))
	}
	return strings.Join(told, ", ")
}

// tells changes the system, and waits until this is told of what one has followed since a cursor.
func (x *tables) tells(after, statement, want string) {
	x.t.Helper()
	if statement != "" {
		x.exec(statement)
	}
	var told string
	defer func() {
		if x.t.Failed() {
			x.t.Log("told is: ", told)
		}
	}()
	await.True(x.t, func() bool {
		told = x.changed(one, after)
		return told == want
	}, want)
}

// counted is how many records a client sees, as far as they have been seen.
func (x *tables) counted(of auth.Client, resource string) int {
	x.t.Helper()
	digest, err := x.front.Digest(x.t.Context(), x.model.Resource(resource), backend.DigestQuery{Client: of, From: 1, Ranges: 1})
	require.NoError(x.t, err)
	return digest.Ranges[0].Count
}

func (x *tables) copyOf(of auth.Client) *drivertest.Copy {
	x.t.Helper()
	c := &drivertest.Copy{Client: x.front, Of: of, Resources: x.model.Resources}
	require.NoError(x.t, c.Begin(x.t.Context()))
	return c
}

// equal waits until copies are as lists are.
func (x *tables) equal(copies ...*drivertest.Copy) {
	x.t.Helper()
	for _, c := range copies {
		await.True(x.t, func() bool {
			_, err := c.CatchUp(x.t.Context())
			require.NoError(x.t, err)
			differs, err := c.Differs(x.t.Context())
			require.NoError(x.t, err)
			return differs == ""
		}, "the copy of client %d", c.Of.ID)
	}
}
