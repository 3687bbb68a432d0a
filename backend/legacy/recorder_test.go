package legacy

import (
	"context"
	"database/sql/driver"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// recorder notes the text of every statement that reaches an engine's driver.
type recorder struct {
	driver.Connector
	before func(text string) // is told each before it is run; nil for nobody

	mu    sync.Mutex
	texts []string
}

func (r *recorder) note(text string) {
	if r.before != nil {
		r.before(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

func (r *recorder) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	return recordedConn{c, r}, err
}

type recordedConn struct {
	driver.Conn
	r *recorder
}

func (c recordedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.r.note(query)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c recordedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.r.note(query)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c recordedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

func (c recordedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c recordedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// record puts a recorder between the Store and its engine.
func (x *fixture) recorded() *recorder {
	x.t.Helper()
	c, err := x.d.connector(string(x.source.DSN), x.d.session(DefaultLockWait))
	require.NoError(x.t, err)
	r := &recorder{Connector: c}
	old := x.pools
	x.pools = openPools(r, x.source.Connections)
	x.kept, x.binary = nil, false
	if x.direct != nil { // which nobody could listen to
		require.NoError(x.t, x.direct.Close())
		x.direct = nil
	}
	x.t.Cleanup(func() { require.NoError(x.t, old.close()) })
	return r
}

// hostile are values that would be noticed in the text of a statement.
const hostile = `Z'"; DROP TABLE REL; --`

// verbs are how statements of the driver may begin.
var verbs = regexp.MustCompile(`^(SELECT|INSERT INTO|UPDATE|DELETE FROM|CALL|SET @frontdesk_[0-9]+ =) `)

func TestOnlyRowsAndNeverValuesAreInTheText(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		records := newRecords(x)
		r := x.recorded()
		for name, pair := range records {
			rec := pair[0].Clone()
			for i := range rec.Resource.Fields {
				f := &rec.Resource.Fields[i]
				if f.Type == mapping.Varchar && rec.Values[i].IsSet() && len(f.OneOf) == 0 && f.Check == "" && f.Length >= len(hostile) {
					rec.Values[i] = mapping.TextValue(hostile)
				}
			}
			stored := x.create(one, rec)
			x.update(one, stored.ID(), pair[1])
			for i := range rec.Resource.Fields {
				f := &rec.Resource.Fields[i]
				if f.Filterable() && f.Type == mapping.Varchar && f.ReferenceBy == "" {
					x.list(backend.Query{Client: one, Total: true, After: 1, Limit: 3, Offset: 1, Filters: []backend.Filter{{Field: f, Value: mapping.TextValue(hostile)}}}, name)
				}
			}
			require.NoError(t, x.tryDelete(one, name, stored.ID()))
		}
		_, err := x.FindUser(t.Context(), hostile)
		require.Error(t, err)
		_, err = x.front.Export(t.Context(), one, io.Discard)
		require.NoError(t, err)
		_, err = x.Recall(t.Context(), one, hostile)
		require.NoError(t, err)

		require.Greater(t, len(r.texts), 100)
		for _, text := range r.texts {
			require.Regexp(t, verbs, text)
			require.NotContains(t, text, "DROP", text)
			require.NotContains(t, text, "Dorpsstraat", text)
		}
		requireScoped(t, x, r.texts)
	})
}

// unscoped are the tables that no client owns rows of, or that are asked for
// numbers or users only.
var unscoped = []string{"LAND", "GEBRUIKER"}

// requireScoped wants the client's column in every statement that reads or writes
// records.
func requireScoped(t *testing.T, x *fixture, texts []string) {
	t.Helper()
	for _, text := range texts {
		if strings.HasPrefix(text, "CALL") || strings.HasPrefix(text, "SET ") || strings.HasPrefix(text, "SELECT @") {
			continue
		}
		if slices.ContainsFunc(unscoped, func(table string) bool { return strings.Contains(text, " "+x.quoted(table)) }) {
			continue
		}
		if strings.HasPrefix(text, "SELECT MAX("+x.quoted("VOLGNR")+") FROM "+x.quoted("VTGREL")) {
			continue // the numbers of a vehicle, whose row was read for its client
		}
		if strings.HasPrefix(text, "INSERT") {
			require.Contains(t, text, x.quoted("BEDRNR"), text)
			continue
		}
		require.Regexp(t, `WHERE (|.* AND )`+regexp.QuoteMeta(x.quoted("BEDRNR"))+` = `, text)
	}
}
