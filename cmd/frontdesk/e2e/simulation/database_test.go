package simulation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"frontdesk/backend"
	"frontdesk/backend/legacy"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

func TestDatabase(t *testing.T) {
	seeds(t, func() system { return &vendorDatabase{answers: true} })
}

// TestDatabaseWithoutAnswers is before a database that has no table for the answers under idempotency keys.
func TestDatabaseWithoutAnswers(t *testing.T) {
	seeds(t, func() system { return &vendorDatabase{} })
}

// vendorDatabase is a database of somebody else's, behind a sheet.
type vendorDatabase struct {
	answers     bool // it has a table for answers under idempotency keys
	demo, other string
	w           *world
	count       int
}

const vendorSchema = `
PRAGMA journal_mode = wal;
CREATE TABLE cards (id INTEGER PRIMARY KEY AUTOINCREMENT, org INTEGER NOT NULL, kind VARCHAR(10) NOT NULL, name VARCHAR(60) NOT NULL, days INTEGER, at TEXT);
CREATE TABLE answers (client_id BIGINT, idem_key VARCHAR(400), request_sum CHAR(64), answer TEXT, created_at BIGINT, PRIMARY KEY (client_id, idem_key));
CREATE TABLE noted (nr INTEGER PRIMARY KEY AUTOINCREMENT, card INTEGER);
CREATE TRIGGER cards_i AFTER INSERT ON cards BEGIN INSERT INTO noted (card) VALUES (NEW.id); END;
CREATE TRIGGER cards_u AFTER UPDATE ON cards BEGIN INSERT INTO noted (card) VALUES (NEW.id); END;
CREATE TRIGGER cards_d AFTER DELETE ON cards BEGIN INSERT INTO noted (card) VALUES (OLD.id); END;
INSERT INTO cards (org, kind, name, days, at) VALUES (1, 'person', 'behind 0', 14, '2026-01-01 00:00:00'), (2, 'person', 'of another', 14, '2026-01-01 00:00:00');
`

const vendorSheet = `format: 2
source: {sql: {engine: sqlite, dsn: %q%s}}
keep: keep.db
client: org
rules: backend
accounts: {users: [{username: demo, password_hash: %q, email: n@example.nl, client: {id: 1, name: Noord}}, {username: other, password_hash: %q, email: z@example.nl, client: {id: 2, name: Zuid}}]}
resources:
  contact:
    table: cards
    key: {columns: id, generated: identity}
    changes: {by: table, table: noted, sequence: nr, key: card, every: 5s, settle: 0s}
    fields: {kind: kind, name: name, payment_days: days, modified_at: {column: at, type: date, stamp: change}}
`

func (s *vendorDatabase) begin(w *world) {
	s.demo, s.other, s.w = rig.PasswordHash("demo"), rig.PasswordHash("other"), w
	require.NoError(w.t, execute(w, cards, vendorSchema))
}

// cards is its file.
const cards = "cards.db"

func (s *vendorDatabase) config(folder string) string {
	answers := ""
	if s.answers {
		answers = ", idempotency: answers"
	}
	file := s.w.sheet(folder, fmt.Sprintf(vendorSheet, filepath.Join(folder, cards), answers, s.demo, s.other))
	return fmt.Sprintf("backend: {driver: legacy, sheet: %q, max_concurrent: %d}", file, slots)
}

// again has f work on a database as others do, again while somebody else writes: SQLite's own wait for
// a lock goes by the machine's clock, and there is none here.
func again(w *world, name string, f func(*sql.DB) error) error {
	for {
		file := filepath.Join(w.folder(), name) // of the life that there is by then
		db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(0)")
		require.NoError(w.t, err)
		err = f(db)
		require.NoError(w.t, db.Close())
		if failed, ok := errors.AsType[*sqlite.Error](err); !ok || failed.Code()&0xff != busy {
			return err
		}
		time.Sleep(3 * time.Millisecond)
	}
}

// busy is SQLite's code for a lock of somebody else's.
const busy = 5

// execute changes a database as others do. Where others write already, statements of one text need a transaction.
func execute(w *world, name, text string, values ...any) error {
	return again(w, name, func(db *sql.DB) error {
		_, err := db.ExecContext(w.t.Context(), text, values...)
		return err
	})
}

func (s *vendorDatabase) execute(w *world, text string, values ...any) {
	if err := execute(w, cards, text, values...); err != nil { // the column that is called otherwise for a while
		w.tell("others: %v", err)
	}
}

func (s *vendorDatabase) wrap(*world) desk.WrapDriver {
	return func(d backend.Driver) backend.Driver { return slowStore{d.(*legacy.Store), s.w} }
}

// slowStore has time pass before a transaction, within it, and after it.
type slowStore struct {
	*legacy.Store
	w *world
}

func (d slowStore) Write(ctx context.Context, f func(backend.Tx) error) error {
	return d.w.slowly(func(f func(backend.Tx) error) error { return d.Store.Write(ctx, f) }, f)
}

func (s *vendorDatabase) troubles(w *world) []trouble {
	column := func(from, to string) func() {
		return func() { s.execute(w, fmt.Sprintf("ALTER TABLE cards RENAME COLUMN %s TO %s", from, to)) }
	}
	return []trouble{
		{name: "the administration has another column", begin: column("days", "dagen"), end: column("dagen", "days"), after: 70 * time.Second},
		{name: "the administration begins its table of changes anew", only: "nobody", begin: func() {
			s.execute(w, "DELETE FROM noted")
			s.execute(w, "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'noted'")
		}, end: func() {}},
	}
}

func (s *vendorDatabase) behind(w *world, random *rand.Rand) {
	s.count++
	switch random.IntN(4) {
	case 0:
		s.execute(w, "DELETE FROM cards WHERE name LIKE 'behind %' AND id % 3 = ?", random.IntN(3))
	case 1:
		s.execute(w, "UPDATE cards SET org = 3 - org WHERE name LIKE 'behind %' AND id % 3 = ?", random.IntN(3))
	case 2:
		s.execute(w, "UPDATE cards SET days = ? WHERE name LIKE 'behind %' AND id % 2 = ?", random.IntN(900), random.IntN(2))
	default:
		s.execute(w, "INSERT INTO cards (org, kind, name, days, at) VALUES (1, 'person', ?, 14, '2026-01-01 00:00:00')", fmt.Sprint("behind ", s.count))
	}
}

func (s *vendorDatabase) names(w *world, org int) map[string]string {
	all := map[string]string{}
	require.NoError(w.t, again(w, cards, func(db *sql.DB) error {
		rows, err := db.QueryContext(w.t.Context(), "SELECT * FROM cards WHERE org = ?", org) // whatever the column of days is called
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var days sql.NullInt64
			var rest any
			if err := rows.Scan(&rest, &rest, &rest, &name, &days, &rest); err != nil {
				return err
			}
			all[name] = "<nil>"
			if days.Valid {
				all[name] = fmt.Sprint(days.Int64)
			}
		}
		return rows.Err()
	}))
	return all
}

func (s *vendorDatabase) again() bool         { return s.answers }
func (s *vendorDatabase) mayHave(string) bool { return !s.answers }

// isBehind reports whether others made a record of that name.
func isBehind(name string) bool { return strings.HasPrefix(name, "behind ") }
