package legacy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// afterPrograms count how often they were called, and refuse.
var afterPrograms = map[string][]string{
	"mariadb": {
		`CREATE PROCEDURE B_NA (IN P_ADM INT, IN P_NR INT, IN P_NAAM VARCHAR(40), IN P_WAT VARCHAR(10)) BEGIN
			IF P_NAAM = 'Fout' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'B-07 naam'; END IF;
			UPDATE b_rel SET keren = COALESCE(keren, 0) + 1, org = P_WAT WHERE adm = P_ADM AND nr = P_NR; END`,
		`CREATE PROCEDURE B_WEG (IN P_ADM INT, IN P_NAAM VARCHAR(40)) BEGIN INSERT INTO b_plus (adm, rel, dagen) SELECT P_ADM, 900, COUNT(*) FROM b_rel WHERE naam = P_NAAM; END`,
	},
	"postgres": {
		`CREATE FUNCTION "B_NA"(p_adm int, p_nr int, p_naam text, p_wat text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
			IF p_naam = 'Fout' THEN RAISE EXCEPTION 'B-07 naam' USING ERRCODE = '45000'; END IF;
			UPDATE b_rel SET keren = COALESCE(keren, 0) + 1, org = p_wat WHERE adm = p_adm AND nr = p_nr; END $$`,
		`CREATE PROCEDURE "B_WEG"(p_adm int, p_naam text) LANGUAGE sql AS $$ INSERT INTO b_plus (adm, rel, dagen) SELECT p_adm, 900, COUNT(*) FROM b_rel WHERE naam = p_naam $$`,
	},
}

const afterSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
keep: keep.db
accounts: {users: []}
client: adm
errors:
  - {when: {sqlstate: "45000", message: "^B-07 (\\w+)"}, reason: varchar_invalid, field_from: message}
resources:
  contact:
    table: b_rel
    key: {columns: [adm, nr], generated: max+1}
    fields: {kind: {constant: person}, name: naam, number: {from: org, readonly: true}, payment_days: {from: keren, readonly: true}}
    constants: {soort: 8, zak: 0}
    operations:
      create: {after: B_NA, arguments: [":client", nr, naam, "'made'"]}
      update: {after: B_NA, arguments: [":client", nr, naam, "'changed'"]}
      delete: {after: B_WEG, arguments: [":client", naam]}
`

// TestProceduresAfterAWrite: they see the record as it was written, and what they do, or
// refuse, is one with the write.
func TestProceduresAfterAWrite(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			x, _, _ := onTables(t, engine, fmt.Sprintf(afterSheet, engine), slices.Concat(besideTables, afterPrograms[engine])...)
			made := x.create(one, x.record("contact", "name", "Vier"))
			require.Equal(t, []string{"made", "1"}, []string{made.Get("number").Text(), made.Get("payment_days").String()})
			changed := x.update(one, made.ID(), x.record("contact", "name", "Vijf"))
			require.Equal(t, []string{"changed", "2"}, []string{changed.Get("number").Text(), changed.Get("payment_days").String()})

			for _, write := range []func() error{
				func() error { _, err := x.tryCreate(one, x.record("contact", "name", "Fout")); return err },
				func() error { _, err := x.tryUpdate(one, made.ID(), x.record("contact", "name", "Fout")); return err },
			} {
				requireTold(t, write(), mapping.VarcharInvalid, []string{"name", "Fout"})
			}
			require.Equal(t, "0", x.row("SELECT COUNT(*) FROM b_rel WHERE naam = 'Fout'"), "nothing of it stays")
			require.NoError(t, x.tryDelete(one, "contact", made.ID()))
			require.Equal(t, "0", x.row("SELECT dagen FROM b_plus WHERE rel = 900"), "it came after the row had gone")
		})
	}
}
