package legacy

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestRecordAndLinesAreOfOneMoment: another program changes an order and its lines, in one
// transaction, between the statement that reads the order and the one that reads its lines.
func TestRecordAndLinesAreOfOneMoment(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		order, id := x.model.Resource("order"), int32(0)
		for _, line := range x.all(one, "orderline") {
			if of := int32(line.Get("order_id").Int()); id == 0 && x.get(one, "order", of).Get("order_status").Text() == "open" { // which the vendor's triggers let change
				id = of
			}
		}
		require.NotZero(t, id)
		vendor, err := sql.Open(map[string]string{"mariadb": "mysql", "postgres": "pgx", "sqlite": "sqlite"}[x.engine], x.dsn)
		require.NoError(t, err)
		defer vendor.Close()
		if x.engine == "sqlite" { // else nobody writes while somebody reads
			_, err = vendor.ExecContext(t.Context(), "PRAGMA journal_mode = wal")
			require.NoError(t, err)
		}
		change := func(text string) {
			tx, err := vendor.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			for _, table := range []string{"ORDKOP", "ORDRGL"} {
				_, err = tx.ExecContext(t.Context(), fmt.Sprintf("UPDATE %s SET %s = '%s' WHERE %s = 1 AND %s = %d", x.quoted(table), x.quoted("OMS"), text, x.quoted("BEDRNR"), x.quoted("ORDNR"), id))
				require.NoError(t, err)
			}
			require.NoError(t, tx.Commit())
		}
		fields := []int{order.Field("description").Index, order.Field("orderlines").Index}
		r := x.recorded()
		for name, read := range map[string]func() mapping.Record{
			"get": func() mapping.Record {
				rec, err := x.front.Get(t.Context(), order, backend.Query{Client: one, ID: id, Fields: fields})
				require.NoError(t, err)
				return rec
			},
			"list": func() mapping.Record {
				return x.list(backend.Query{Client: one, Keyset: true, After: id - 1, Limit: 1, Fields: fields}, "order").Records[0]
			},
		} {
			change(name)
			changed := false
			r.before = func(text string) {
				if !changed && strings.Contains(text, " FROM "+x.quoted("ORDRGL")) {
					changed = true
					change("meanwhile")
				}
			}
			rec := read()
			require.True(t, changed, name)
			for _, rec := range append(rec.Children[fields[1]], rec) {
				require.Equal(t, name, rec.Get("description").Text())
			}
			require.Equal(t, "meanwhile", read().Get("description").Text(), name)
		}
	})
}
