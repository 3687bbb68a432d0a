package legacy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// declaredTimes are what programs declare columns of times as. SQLite keeps the text in all of them.
var declaredTimes = []string{"DATETIME", "TIMESTAMP", "DATE", "TEXT"}

// timesOfVehicles are the fields that the columns are read as, in the same order.
var timesOfVehicles = []string{"first_admission_date", "apk_expiry_date", "published_at", "created_at"}

// openTimes opens a table with a column of each declared type, which hold the same texts.
func openTimes(t *testing.T, settings string, texts []string) *fixture {
	var fields []string
	columns := ""
	for i, kind := range declaredTimes {
		columns += fmt.Sprintf(", c%d %s", i, kind)
		fields = append(fields, fmt.Sprintf("%s: {from: c%d, %s}", timesOfVehicles[i], i, settings))
	}
	statements := []string{"CREATE TABLE v_tijd (nr integer NOT NULL PRIMARY KEY" + columns + ")"}
	for i, text := range texts {
		statements = append(statements, fmt.Sprintf("INSERT INTO v_tijd VALUES (%d%s)", i+1, strings.Repeat(", "+text, len(declaredTimes))))
	}
	x, _, _ := onTables(t, "sqlite", fmt.Sprintf(shownSheet, "sqlite")+`
  vehicle:
    table: v_tijd
    key: {columns: nr, generated: max+1}
    client: ""
    operations: {only: [get, list]}
    fields: {`+strings.Join(fields, ", ")+"}\n", statements...)
	return x
}

// showsTimes requires that each column shows the moments, in whichever way it is read.
func (x *fixture) showsTimes(want []string) {
	x.t.Helper()
	judge := func(how string, records []mapping.Record) {
		x.t.Helper()
		for i, name := range timesOfVehicles {
			var got []string
			for _, rec := range records {
				got = append(got, rec.Get(name).String())
			}
			require.Equal(x.t, want, got, "%s, as %s", how, declaredTimes[i])
		}
	}
	judge("by the engine's driver", x.all(one, "vehicle"))
	judge("by a direct reader", x.all(one, "vehicle"))
	require.NoError(x.t, x.Store.Write(x.t.Context(), func(tx backend.Tx) error {
		page, err := tx.List(x.t.Context(), x.model.Resource("vehicle"), backend.Query{Client: one})
		judge("in a transaction", page.Records)
		return err
	}))
}

// TestDrawnTimesOfSQLite: what a column of times shows does not depend on how it is declared, and it is found and sorted by
// what it shows. Before, a Z was left out of account in all columns but those of texts.
func TestDrawnTimesOfSQLite(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	const millis = "2006-01-02T15:04:05.000Z"
	for seed, c := range []struct {
		settings string
		forms    []string
		zone     *time.Location
	}{
		{"type: datetime", []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05.000"}, amsterdam},
		{"format: iso8601", []string{"2006-01-02T15:04:05", "2006-01-02T15:04:05.000"}, amsterdam},
		{"type: datetime, time_zone: UTC", []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05.000"}, time.UTC},
		{`format: "yyyy-MM-dd HH:mm:ss.SSSZ"`, []string{"2006-01-02 15:04:05.000Z"}, time.UTC},
		{"type: text, format: iso8601", []string{millis}, time.UTC},
	} {
		t.Run(c.settings, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(uint64(seed), 11))
			var texts, want []string
			for range 12 {
				at := time.Date(2026, time.Month(1+6*draw.IntN(2)), 1+draw.IntN(2), draw.IntN(24), 0, 0, draw.IntN(3)*250e6, time.UTC)
				form := c.forms[min(len(c.forms)-1, at.Nanosecond())] // a fraction only where there is one
				texts, want = append(texts, "'"+at.In(c.zone).Format(form)+"'"), append(want, at.Format(millis))
			}
			x := openTimes(t, c.settings, append(texts, "NULL"))
			x.showsTimes(append(want, "null"))
			inOrder := append([]string{"null"}, slices.Sorted(slices.Values(want))...)
			x.findsShown("vehicle", timesOfVehicles...)
			for _, name := range timesOfVehicles {
				f := x.model.Resource("vehicle").Field(name)
				for _, descending := range []bool{false, true} {
					var sorted []string
					for _, rec := range x.list(backend.Query{Client: one, Sort: []backend.Order{{Field: f, Descending: descending}}}, "vehicle").Records {
						sorted = append(sorted, rec.Values[f.Index].String())
					}
					if descending {
						slices.Reverse(sorted)
					}
					require.Equal(t, inOrder, sorted, name)
				}
				some := x.get(one, "vehicle", 3).Values[f.Index]
				require.Equal(t, x.by("vehicle", name, mapping.Equals, some), x.by("vehicle", name, mapping.AnyOf, some))
			}
		})
	}
}

// TestDrawnZonesOfSQLite: a text that names its zone is that moment, whatever the column is declared as, and whatever
// zone the others are in.
func TestDrawnZonesOfSQLite(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	zones := []*time.Location{time.UTC, time.FixedZone("", 2*3600), time.FixedZone("", -(5*3600 + 1800)), amsterdam}
	draw := rand.New(rand.NewPCG(2, 11))
	var texts, want []string
	for range 60 {
		at := time.Date(2026, time.Month(1+6*draw.IntN(2)), 1+draw.IntN(28), draw.IntN(24), draw.IntN(60), draw.IntN(60), draw.IntN(2)*125e6, time.UTC)
		form := []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05"}[draw.IntN(2)] + []string{"", ".000"}[min(1, at.Nanosecond())]
		zone := draw.IntN(len(zones))
		if zone < len(zones)-1 {
			form += []string{"Z07:00", "-07:00"}[draw.IntN(2)]
		}
		texts, want = append(texts, "'"+at.In(zones[zone]).Format(form)+"'"), append(want, at.Format("2006-01-02T15:04:05.000Z"))
	}
	x := openTimes(t, "type: datetime", texts)
	x.showsTimes(want)
}
