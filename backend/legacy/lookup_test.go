package legacy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestValuesOfOtherTables has a field looked up, and records that another table
// binds to the client.
func TestValuesOfOtherTables(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		text := dealerpakText(t, engine)
		q := map[string]string{"postgres": `"`}[engine]
		changed := strings.NewReplacer(
			"color: {from: KLEUR, length: 20, charset: latin1}", "color: {lookup: {table: LAND, match: {LANDNR: LANDNR}, take: NAAM}}",
			"color: {from: KLEUR, length: 20}", "color: {lookup: {table: LAND, match: {LANDNR: LANDNR}, take: NAAM}}",
			"table: VTGREL\n", "table: VTGREL\n    client: \"\"\n    where: "+strings.ReplaceAll(`EXISTS (SELECT 1 FROM #VTG# v WHERE v.#VTGID# = #VTGREL#.#VTGID# AND v.#BEDRNR# = :client)`, "#", q)+"\n    constants: {BEDRNR: 1}\n",
		).Replace(text)
		require.NotEqual(t, text, changed)
		x := openText(t, engine, engines[engine](t), changed)

		vehicles := x.model.Resource("vehicle")
		color := vehicles.Field("color")
		byColor := backend.Query{Client: one, Total: true, Filters: []backend.Filter{{Field: color, Value: mapping.TextValue("NEDERLAND")}}, Sort: []backend.Order{{Field: color}}}
		page := x.list(byColor, "vehicle")
		require.NotEmpty(t, page.Records)
		require.EqualValues(t, len(page.Records), page.Total)
		for _, rec := range page.Records {
			require.Equal(t, "528", rec.Get("country_id").String())
			require.Equal(t, "NEDERLAND", rec.Get("color").Text())
		}
		changedOne := x.update(one, page.Records[0].ID(), x.record("vehicle", "mileage", "1"))
		require.Equal(t, "NEDERLAND", changedOne.Get("color").Text(), "a looked-up value does not keep a row from being locked")

		mine := x.all(one, "vehicleroleline")
		require.NotEmpty(t, mine)
		for _, role := range mine {
			_, err := x.tryGet(one, "vehicle", int32(role.Get("vehicle_id").Int()))
			require.NoError(t, err)
		}
		theirs := x.all(two, "vehicleroleline")
		require.NotEmpty(t, theirs)
		_, err := x.tryGet(one, "vehicleroleline", theirs[0].ID())
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	})
}
