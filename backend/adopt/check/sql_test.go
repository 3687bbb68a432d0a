package check

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/mapping"
)

// engines are the servers that DEALERPAK runs on.
func engines() map[string]func(t testing.TB) string {
	return map[string]func(t testing.TB) string{"mariadb": legacytest.MariaDB, "postgres": legacytest.Postgres}
}

// TestFinishedSheet finds nothing that fails in the sheet that DEALERPAK is
// served by, and what its manual says is wrong with the rows.
func TestFinishedSheet(t *testing.T) {
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			path := finished(t, engine)
			report := checked(t, path, start(t))
			require.Zero(t, report.Count(Error), words(t, report))
			require.NotEmpty(t, report.has("data.null", "resources.vehicle.fields.model"), words(t, report))
			require.NotEmpty(t, report.has("data.unknown-code", "resources.orderline.fields.unit_type"), words(t, report))
			require.NotEmpty(t, report.has("sql.trigger", "resources.order.table"), words(t, report))
			require.Equal(t, []string{"advertisementsite", "flatrate", "flatrateline", "vehicleadvertisementsite"}, report.Left.Resources)
			var j strings.Builder
			require.NoError(t, report.WriteJSON(&j))
			require.Contains(t, j.String(), `"rule": "data.null"`)
		})
	}
}

// TestNobodyIsNamed: what a database says of a value repeats it, and a report is sent on.
func TestNobodyIsNamed(t *testing.T) {
	dsn := legacytest.Postgres(t)
	report := checked(t, finished(t, "postgres", `hourly_rate: {read: '"UURTRF" / 100.0', write: {UURTRF: 'ROUND(:value * 100)'}, ordered: true}`, `hourly_rate: {read: 'CAST("NAAM" AS integer)'}`), dsn)
	found := report.has("data.unproved", "resources.employee.key")
	require.Len(t, found, 1, "%+v", report.Findings)
	require.Regexp(t, `invalid input syntax for type integer: "X[xX ]+`, found[0].Seen)
}

// TestReadOnly has the database refuse whatever a check might write.
func TestReadOnly(t *testing.T) {
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			o := loaded(t, finished(t, engine), start(t))
			o = o.through(func(db Database) Database {
				err := db.Write(t.Context(), func(tx backend.Tx) error {
					r := o.Sheet.Model.Resource("vehicle")
					page, err := tx.List(t.Context(), r, backend.Query{Client: auth.Client{ID: 1}, Limit: 1})
					require.NoError(t, err)
					patch := mapping.NewRecord(r)
					patch.Set("brand", mapping.TextValue("other"))
					_, err = tx.Update(t.Context(), auth.Client{ID: 1}, page.Records[0], patch)
					return err
				})
				require.Error(t, err)
				return unasked{db}
			})
			report := reported(t, o)
			require.Zero(t, report.Count(Error), words(t, report))
		})
	}
}

// TestForeignSQL: nothing fails of the sheets of administrations that nobody here wrote, and it is
// told what they cannot say.
func TestForeignSQL(t *testing.T) {
	t.Run("tryton", func(t *testing.T) {
		s := foreigntest.Tryton(t)
		report := checked(t, s.Sheet, s.DSN)
		require.Zero(t, report.Count(Error), words(t, report))
		undated := report.has("data.undated", "resources.order.fields.modified_at")
		require.Len(t, undated, 1, words(t, report))
		require.Regexp(t, `^\d+ of 60 record\(s\) have no modified_at, and lists by modified_since never have them$`, undated[0].Seen)
	})
	t.Run("sqlledger", func(t *testing.T) {
		s := foreigntest.SQLLedger(t)
		report := checked(t, s.Sheet, s.DSN)
		require.Zero(t, report.Count(Error), words(t, report))
		text, err := os.ReadFile(s.Sheet)
		require.NoError(t, err)
		missed := checked(t, written(t, string(text), "CAST(:value / 100 AS real)", ":value / 100"), s.DSN).has("data.missed", "resources.orderline.fields.discount_percentage")
		require.Len(t, missed, 1, "no real is a decimal to the last digit")
		require.Equal(t, "72 of 120 record(s) are not found by a filter by the discount_percentage that they show", missed[0].Seen)
	})
	t.Run("kraft", func(t *testing.T) {
		s := foreigntest.Kraft(t)
		report := checked(t, s.Sheet, s.DSN)
		require.Zero(t, report.Count(Error), words(t, report))
		nobodys := report.has("data.nobody", "resources.order.client")
		require.Len(t, nobodys, 1, words(t, report))
		require.Equal(t, "36 of 66 record(s) belong to no client that a user works for", nobodys[0].Seen, "those of customers 1x, 1.0, 01 and 2x, and of none")
	})
}
