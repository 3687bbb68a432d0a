package follow

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// database has a real one answer each call, each thing once.
func database(t *testing.T) seenMachine {
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "seen.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	notes := sqlrecord.NotesMigration(db.Dialect(), 2)
	require.NoError(t, sqlrecord.MigrateWith(t.Context(), db, sqlrecord.Migrations{Table: "seen_version", Files: migrations, Go: []*goose.Migration{notes}}))
	f := &Follower{o: Options{DB: db, Lease: leaseLife}, db: db, holder: "this one"}
	p := pair{auth.Client{ID: 1}, &mapping.Resource{Name: "article"}}
	ask := func(text string, columns int) (row []mapping.Value) {
		require.NoError(t, db.Read(t.Context(), func(c sqlrecord.Conn) (err error) {
			row, err = sqlrecord.One(t.Context(), c, text, numbers(columns))
			return err
		}))
		return row
	}
	run := func(before seenRow, do func(lookOf func(lost, first bool) *look) error) (after seenRow, told backend.ChangeKind, left bool) {
		exec := func(text string, args ...mapping.Value) {
			_, err := sqlrecord.Change(t.Context(), db, text, args...)
			require.NoError(t, err)
		}
		for _, table := range []string{"followed", "followed_record", "record_change"} {
			exec("DELETE FROM " + table)
		}
		exec("INSERT INTO followed (client_id, resource, client_name, asked_at, pass) VALUES (1, 'article', '', 0, 2)")
		if s := before.sighting(); before.there {
			pass := map[bool]int64{true: 1, false: 2}[before.earlier]
			exec("INSERT INTO followed_record (client_id, resource, id, version, modified, gone, pass) VALUES (1, 'article', 1, ?1, ?2, ?3, ?4)",
				mapping.IntValue(s.version), s.modified, mapping.IntValue(s.gone()), mapping.IntValue(pass))
		}
		err := do(func(lost, first bool) *look {
			return &look{pair: p, f: f, first: first, pass: map[bool]int64{true: 1, false: 2}[lost]}
		})
		if left = errors.Is(err, errLeft); !left {
			require.NoError(t, err)
		}
		if row := ask("SELECT coalesce(modified, 0), gone, pass FROM followed_record", 3); row != nil {
			after = seenRow{true, row[1].Int() == 1, row[2].Int() == 1, int(row[0].Int())}
		}
		if row := ask("SELECT kind FROM record_change", 1); row != nil {
			told = map[int64]backend.ChangeKind{1: backend.RecordCreated, 2: backend.RecordUpdated, 3: backend.RecordDeleted}[row[0].Int()]
		}
		return after, told, left
	}
	noted, finished := map[seenCall]seenAnswer{}, map[seenCall]seenAnswer{}
	return seenMachine{
		note: func(c seenCall) seenAnswer {
			a, known := noted[c]
			if !known {
				s := seenAs(c.state, c.kind)
				s.own = !c.inLook
				a.row, a.told, a.left = run(c.row, func(of func(lost, first bool) *look) error {
					in := of(c.lost, c.first)
					if !c.inLook {
						in = nil
					}
					return f.note(t.Context(), p, in, []sighting{s})
				})
				noted[c] = a
			}
			return a
		},
		finish: func(row seenRow, lost bool) (seenRow, bool) {
			c := seenCall{row: row, lost: lost}
			a, known := finished[c]
			if !known {
				a.row, _, a.left = run(row, func(of func(lost, first bool) *look) error { return of(lost, false).finish(t.Context()) })
				finished[c] = a
			}
			return a.row, !a.left
		},
		news: sighting.newsAfter, asks: true, waits: true,
	}
}
