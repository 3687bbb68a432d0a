package legacy

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// TestDirectReadersReadAlike: what is read outside of a transaction must be what is read
// in one, to the last sum, or If-Match would never hold.
func TestDirectReadersReadAlike(t *testing.T) {
	x := open(t, "sqlite")
	_, err := x.db.ExecContext(t.Context(), `CREATE TABLE odd (nr INTEGER PRIMARY KEY, b BOOLEAN, d DATE, dt DATETIME, ts TIMESTAMP, v VARCHAR(10), n DECIMAL(9,2), x)`)
	require.NoError(t, err)
	for _, v := range []any{
		nil, int64(0), int64(1), int64(1)<<62 + 1, 0.1, 12.75, "", " ", "12.50", "2026-11-22", "2026-11-22Z", "2026-11-22-", "2026-11-22 10:11", "2026-11-22T10:11Z", "2026-11-22x10:11", "2026-11-22 10:11:12 +0100 CET", " 2026-11-22 10:11:12 +0100 CET", "m=2026-11-22", "2026-11-22T10:11:12", "2026-11-22 10:11:12.25", "2026-11-22T10:11:12Z",
		"2026-11-22 10:11:12+02:00", "2026-11-22T10:11:12.5-07:00", "2026-13-22", "0000-00-00", "20261122", " 2026-11-22", "2026-11-22 ", "ëé’", []byte{0, 1, 255}, []byte("2026-11-22"),
		time.Date(2026, 11, 22, 10, 11, 12, 0, time.UTC).String(), time.Date(2026, 11, 22, 10, 11, 12, 0, time.UTC).String() + " m=+0.1",
	} {
		_, err := x.db.ExecContext(t.Context(), `INSERT INTO odd (b, d, dt, ts, v, n, x) VALUES (?1, ?1, ?1, ?1, ?1, ?1, ?1)`, v)
		require.NoError(t, err)
	}
	read := func(on session) (rows [][]sheet.Raw) {
		b := newStatement(x.d).add(`SELECT b, d, dt, ts, v, n, x, (d), (SELECT y.b FROM odd y WHERE y.nr = odd.nr) FROM odd WHERE nr > `).arg(intRaw(0)).add(" ORDER BY nr")
		require.NoError(t, on.rows(t.Context(), b, func(row []sheet.Raw) error {
			rows = append(rows, row)
			return nil
		}))
		return rows
	}
	outside := session{Store: x.Store, conn: x.db}
	first, direct := read(outside), read(outside)
	require.Len(t, first, 33)
	for i := range first {
		require.Equal(t, first[i], direct[i], "row %d", i+1)
	}
}

// TestDirectReadersOfOthersFiles are opened as the DSN says, end with their context, and
// tell an error of the sheet from one of the database.
func TestDirectReadersOfOthersFiles(t *testing.T) {
	require.Nil(t, directReaders("file:x.db?_texttotime=1", nil, 1), "which reads other values")
	x := open(t, "sqlite")
	require.NotNil(t, x.direct)
	vehicle := x.all(one, "vehicle")[0]
	read := func(ctx context.Context) error {
		_, err := x.Get(ctx, vehicle.Resource, backend.Query{Client: one, ID: vehicle.ID()})
		return err
	}
	require.NoError(t, read(t.Context()))
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, read(ended), context.Canceled)
	require.NoError(t, read(t.Context()))
	_, err := x.db.ExecContext(t.Context(), "ALTER TABLE VTG RENAME COLUMN MERK TO MERK2")
	require.NoError(t, err)
	require.ErrorIs(t, read(t.Context()), backend.ErrUnexpected)
}

// TestGetAllocates: before, a get of a SQLite file made 174 allocations: what each column
// is was asked anew, and every value was put into an interface.
func TestGetAllocates(t *testing.T) {
	x := open(t, "sqlite")
	r := x.model.Resource("vehicle")
	q := backend.Query{Client: one, ID: x.all(one, "vehicle")[0].ID()}
	get := func() {
		_, err := x.Get(t.Context(), r, q)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, get), 40.0)
}
