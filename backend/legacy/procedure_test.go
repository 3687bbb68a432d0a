package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// employeePrograms do all with employees, as a vendor would have them who lets
// nobody near the tables.
var employeePrograms = map[string][]string{
	"mariadb": {
		`CREATE PROCEDURE SP_MDW (IN P_BEDRNR INT, IN P_MDWNR INT) BEGIN SELECT * FROM MDW WHERE BEDRNR = P_BEDRNR AND MDWNR = P_MDWNR AND UITDAT = '00000000'; END`,
		`CREATE PROCEDURE SP_MDWS (IN P_BEDRNR INT) BEGIN SELECT * FROM MDW WHERE UITDAT = '00000000'; END`, // forgets the branch
		`CREATE PROCEDURE SP_MDW_NIEUW (IN P_BEDRNR INT, IN P_LOGIN VARCHAR(20), IN P_NAAM VARCHAR(40)) BEGIN
			INSERT INTO MDW (BEDRNR, MDWNR, LOGIN, NAAM) SELECT P_BEDRNR, MAX(MDWNR) + 1, P_LOGIN, P_NAAM FROM MDW WHERE BEDRNR = P_BEDRNR;
			SELECT MAX(MDWNR) AS mdwnr FROM MDW WHERE BEDRNR = P_BEDRNR; END`,
		`CREATE PROCEDURE SP_MDW_NAAM (IN P_BEDRNR INT, INOUT P_NAAM VARCHAR(40), IN P_MDWNR INT, OUT P_KLAAR INT) BEGIN
			UPDATE MDW SET NAAM = P_NAAM WHERE BEDRNR = P_BEDRNR AND MDWNR = P_MDWNR; SET P_KLAAR = 1; END`,
		`CREATE PROCEDURE SP_MDW_UIT (IN P_BEDRNR INT, IN P_MDWNR INT) BEGIN UPDATE MDW SET UITDAT = '20261120' WHERE BEDRNR = P_BEDRNR AND MDWNR = P_MDWNR; END`,
	},
	"postgres": {
		`CREATE FUNCTION "SP_MDW"(p_bedrnr int, p_mdwnr int) RETURNS SETOF "MDW" LANGUAGE sql AS $$ SELECT * FROM "MDW" WHERE "BEDRNR" = p_bedrnr AND "MDWNR" = p_mdwnr AND "UITDAT" = '00000000' $$`,
		`CREATE FUNCTION "SP_MDWS"(p_bedrnr int) RETURNS SETOF "MDW" LANGUAGE sql AS $$ SELECT * FROM "MDW" WHERE "UITDAT" = '00000000' $$`,
		`CREATE FUNCTION "SP_MDW_NIEUW"(p_bedrnr int, p_login text, p_naam text) RETURNS TABLE (mdwnr int) LANGUAGE sql AS $$
			INSERT INTO "MDW" ("BEDRNR", "MDWNR", "LOGIN", "NAAM") SELECT p_bedrnr, MAX("MDWNR") + 1, p_login, p_naam FROM "MDW" WHERE "BEDRNR" = p_bedrnr RETURNING "MDWNR" $$`,
		`CREATE PROCEDURE "SP_MDW_NAAM"(p_bedrnr int, INOUT p_naam text, p_mdwnr int, OUT p_klaar int) LANGUAGE plpgsql AS $$
			BEGIN UPDATE "MDW" SET "NAAM" = p_naam WHERE "BEDRNR" = p_bedrnr AND "MDWNR" = p_mdwnr; p_klaar := 1; END $$`,
		`CREATE PROCEDURE "SP_MDW_UIT"(p_bedrnr int, p_mdwnr int) LANGUAGE sql AS $$ UPDATE "MDW" SET "UITDAT" = '20261120' WHERE "BEDRNR" = p_bedrnr AND "MDWNR" = p_mdwnr $$`,
	},
}

func TestEveryOperationByProcedure(t *testing.T) {
	onServers(t, func(t *testing.T, x *fixture) {
		ctx := t.Context()
		for _, text := range employeePrograms[x.engine] {
			_, err := x.db.ExecContext(ctx, text)
			require.NoError(t, err)
		}
		all := x.all(one, "employee")
		employee := x.sheet.Resource("employee")
		for op, how := range map[mapping.Scope]*sheet.Operation{
			mapping.OpGet:    {Procedure: "SP_MDW", Arguments: []string{":client", "MDWNR"}},
			mapping.OpList:   {Procedure: "SP_MDWS", Arguments: []string{":client"}},
			mapping.OpCreate: {Procedure: "SP_MDW_NIEUW", Arguments: []string{":client", "LOGIN", "NAAM"}},
			mapping.OpUpdate: {Procedure: "SP_MDW_NAAM", Arguments: []string{":client", "NAAM", "MDWNR"}, Out: []string{"KLAAR", "NAAM"}},
			mapping.OpDelete: {Procedure: "SP_MDW_UIT", Arguments: []string{":client", "MDWNR"}},
		} {
			employee.Operations[op] = how
			if x.engine == "postgres" {
				require.NoError(t, x.learnRoutine(ctx, how.Procedure))
			}
		}

		listed := x.all(one, "employee")
		require.Len(t, listed, len(all), "whatever the procedure answers of other branches")
		for i := range all {
			require.Equal(t, shown(all[i]), shown(listed[i]))
			require.Equal(t, shown(all[i]), shown(x.get(one, "employee", all[i].ID())))
		}
		name := employee.Field("last_name")
		page := x.list(backend.Query{Client: one, Limit: 2, Offset: 1, Total: true, Sort: []backend.Order{{Field: name, Descending: true}}}, "employee")
		require.Len(t, page.Records, 2)
		require.True(t, page.More)
		require.EqualValues(t, len(all), page.Total)
		require.GreaterOrEqual(t, page.Records[0].Get("last_name").Text(), page.Records[1].Get("last_name").Text())
		page = x.list(backend.Query{Client: one, Filters: []backend.Filter{{Field: name, Value: all[0].Get("last_name")}}, After: all[0].ID() - 1}, "employee")
		require.NotEmpty(t, page.Records)
		require.Equal(t, all[0].ID(), page.Records[0].ID())

		stored := x.create(one, x.record("employee", "username", "n.ieuw", "last_name", "Nieuw", "job_title", "Monteur"))
		require.Equal(t, "Monteur", stored.Get("job_title").Text(), "what it was not told")
		changed := x.update(one, stored.ID(), x.record("employee", "last_name", "Ouder", "hourly_rate", "40"))
		require.Equal(t, "Ouder", changed.Get("last_name").Text())
		require.Equal(t, "40", changed.Get("hourly_rate").String())
		require.NoError(t, x.tryDelete(one, "employee", stored.ID()))
		_, err := x.tryGet(one, "employee", stored.ID())
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
		_, err = x.tryGet(one, "employee", 30_000)
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	})
}

// TestListProceduresCompareAsColumnsDo: what filters find must not depend on who judges
// them. Before, list procedures compared letter by letter, so that a plate with other dashes
// was not found, and was unique.
func TestListProceduresCompareAsColumnsDo(t *testing.T) {
	onServers(t, func(t *testing.T, x *fixture) {
		program := map[string]string{
			"mariadb":  "CREATE PROCEDURE SP_VTGS (IN P_BEDRNR INT) BEGIN SELECT * FROM VTG WHERE BEDRNR = P_BEDRNR AND WISDAT = '00000000'; END",
			"postgres": `CREATE FUNCTION "SP_VTGS"(p int) RETURNS SETOF "VTG" LANGUAGE sql AS $$ SELECT * FROM "VTG" WHERE "BEDRNR" = p AND "WISDAT" = '00000000' $$`,
		}
		_, err := x.db.ExecContext(t.Context(), program[x.engine])
		require.NoError(t, err)
		vehicle := x.sheet.Resource("vehicle")
		abroad := ""
		for _, rec := range x.all(one, "country") {
			if rec.Get("code").Text() != "NL" {
				abroad = rec.Get("id").String()
			}
		}
		plate := x.create(one, x.record("vehicle", "country_id", abroad, "license_plate", "M-AB 1234", "brand", "Opel", "vin", "w0l0xcf6814", "version", "Eén 1.4 ", "model", "Corsa")).Get("license_plate").Text()
		list := func(field, value string) (ids []int32) {
			q := backend.Query{Client: one, Filters: []backend.Filter{{Field: vehicle.Field(field), Value: mapping.TextValue(value)}}}
			for _, rec := range x.list(q, "vehicle").Records {
				ids = append(ids, rec.ID())
			}
			return ids
		}
		for _, c := range []struct{ field, value string }{
			{"license_plate", plate}, {"license_plate", "MAB 1234"}, {"license_plate", "m-a-b 1234"}, {"license_plate", "MAB1234"}, {"license_plate", plate + " "},
			{"vin", "w0l0xcf6814"}, {"vin", "W0L0XCF6814"}, {"vin", "w0l0xcf6814 "}, {"vin", " w0l0xcf6814"},
			{"brand", "Opel"}, {"brand", "OPEL"}, {"brand", "Opel  "}, {"brand", "Opel."},
			{"version", "Eén 1.4 "}, {"version", "Eén 1.4"}, {"version", "EÉN 1.4"}, {"version", "Eén"},
		} {
			delete(vehicle.Operations, mapping.OpList)
			want := list(c.field, c.value)
			vehicle.Operations[mapping.OpList] = &sheet.Operation{Procedure: "SP_VTGS", Arguments: []string{":client"}}
			if x.engine == "postgres" {
				require.NoError(t, x.learnRoutine(t.Context(), "SP_VTGS"))
			}
			require.Equal(t, want, list(c.field, c.value), "%s = %q", c.field, c.value)
		}
		_, err = x.tryCreate(one, x.record("vehicle", "country_id", abroad, "license_plate", "MA-B 1234", "brand", "Opel", "model", "Corsa"))
		requireTold(t, err, mapping.DuplicateValue, []string{"license_plate", "MA-B 1234"})
	})
}
