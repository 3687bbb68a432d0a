package secrets

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestNobodyCanTellByASheet is TestNobodyCanTell of systems behind a mapping sheet. The
// twins differ in the rows that the sheet hides, too.
func TestNobodyCanTellByASheet(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(testing.TB) kind{
		"mariadb":     func(t testing.TB) kind { return dealerpak(t, "mariadb", legacytest.MariaDB) },
		"postgres":    func(t testing.TB) kind { return dealerpak(t, "postgres", legacytest.Postgres) },
		"garagecloud": garageCloud,
		"shop in sql": shopInSQL, "shop over http": shopOverHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			shortWhere(t, slices.Contains([]string{"mariadb", "shop in sql", "shop over http", "garagecloud"}, name))
			t.Parallel()
			betweenClients(t, of(t))
		})
	}
}

// dealerpak has what it marked as deleted removed from one of the twins, and changed in
// the other one. What is unique stays so beside hidden rows, which tells of them: so none
// keeps its value.
func dealerpak(t testing.TB, engine string, database func(testing.TB) string) kind {
	files := must.Have(legacytest.Files())(t)
	var databases [2]*sql.DB
	start := func(side int) *rig.Desk {
		dsn := database(t)
		driver, own := "pgx", dsn
		if engine == "mariadb" {
			driver, own = "mysql", dsn+"?sql_mode=%27ANSI_QUOTES%27"
		}
		databases[side] = openSQL(t, driver, own)
		sheet := rig.Read(t, filepath.Join(files, engine+".yaml"))
		if engine == "mariadb" { // on the other one answers are in the gateway's own store
			change(t, databases[side], `CREATE TABLE "ANTWOORD" (client_id INT, idem_key VARCHAR(400), request_sum VARCHAR(64), answer LONGTEXT, created_at BIGINT, PRIMARY KEY (client_id, idem_key))`)
			sheet = strings.Replace(sheet, "time_zone:", "    idempotency: ANTWOORD\ntime_zone:", 1)
		}
		return startSheet(t, "legacy", sheet, "", "${DEALERPAK_DSN}", dsn)
	}
	return kind{
		start: start, viewer: login{"sanne.bos", "Welkom01"}, other: login{"sanne.bos2", "Welkom01"}, requests: drawn(2, shopRequests), bySheet: true, scans: true,
		without: []string{"document"}, // whose keys, and so their order, are drawn by chance
		hide: func() (n int) {
			for _, db := range databases {
				change(t, db, `UPDATE "ART" SET "ARTNR" = CONCAT('H', "ARTID") WHERE "VERVALLEN" = 'J'`,
					`UPDATE "VTG" SET "KENT" = CONCAT('H', "VTGID"), "CHAS" = NULL WHERE "WISDAT" <> '00000000'`)
			}
			n += change(t, databases[0], `UPDATE "ART" SET "VKPR" = "VKPR" + 1 WHERE "VERVALLEN" = 'J'`,
				`UPDATE "VTG" SET "KMST" = "MUTNR" WHERE "WISDAT" <> '00000000'`, `UPDATE "REL" SET "BETTRM" = "BETTRM" + 1 WHERE "VERVALLEN" = 'J'`)
			return n + change(t, databases[1],
				`DELETE FROM "ART" WHERE "VERVALLEN" = 'J' AND "ARTID" NOT IN (SELECT "ARTID" FROM "ORDRGL" WHERE "ARTID" IS NOT NULL)`,
				`DELETE FROM "VTG" WHERE "WISDAT" <> '00000000' AND "VTGID" NOT IN (SELECT "VTGID" FROM "VTGREL")
					AND "VTGID" NOT IN (SELECT "VTGID" FROM "ORDKOP" WHERE "VTGID" IS NOT NULL)`,
				`DELETE FROM "REL" WHERE "VERVALLEN" = 'J'`+unreferred("RELCOM", "RELNR")+unreferred("RELADR", "RELNR")+unreferred("ART", "LEVNR")+
					unreferred("VTGREL", "RELNR")+unreferred("ORDKOP", "RELNR"))
		},
	}
}

// unreferred says that no row of a table refers to a row of REL.
func unreferred(table, column string) string {
	return fmt.Sprintf(` AND NOT EXISTS (SELECT 1 FROM "%s" x WHERE x."BEDRNR" = "REL"."BEDRNR" AND x."%s" = "REL"."RELNR")`, table, column)
}

// garageCloud removes for good, in one of the twins, what was deleted.
func garageCloud(t testing.TB) kind {
	var services [2]*remotetest.JSON
	return kind{viewer: login{"demo", "demo"}, other: login{"other", "other"}, requests: drawn(1, shopRequests), bySheet: true, scans: true, hide: func() int { return services[1].Purge() }, start: func(side int) *rig.Desk {
		services[side] = remotetest.NewJSON(remotetest.Options{})
		server := httptest.NewServer(services[side])
		t.Cleanup(server.Close)
		return startSheet(t, "remote", rig.Read(t, rig.RemoteSheets(t, "garagecloud.yaml")), "", "${GARAGE_URL}", server.URL, "${GARAGE_SECRET}", remotetest.ClientSecret,
			"size: 200", "size: 20", // so that lists have several pages
			"timeout: 5s", "timeout: 60s")
	}}
}

// startSheet serves a system behind a sheet, with these api_keys; values are what stands for what in its text. No
// disk or processor that is slow for a while ends a call, and what ended one is told.
func startSheet(t testing.TB, driver, sheet, keys string, values ...string) *rig.Desk {
	t.Helper()
	looked := map[string]string{"legacy": scanned, "remote": walked}[driver]
	o, _ := rig.BySheet(t, driver, strings.Replace(sheet, "\nresources:\n", looked, 1), values...)
	o.Backend += ", timeout: 60s"
	o.Keys = keys
	d := rig.Start(t, o)
	t.Cleanup(func() {
		if t.Failed() {
			d.Shutdown() // which writes the rest of its log
			t.Logf("%s", d.LogWithoutAccess())
		}
	})
	return d
}

func openSQL(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db := must.Have(sql.Open(driver, dsn))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// change runs statements and tells how many rows they changed.
func change(t testing.TB, db *sql.DB, statements ...string) (n int) {
	t.Helper()
	for _, s := range statements {
		done, err := db.ExecContext(context.Background(), s)
		require.NoError(t, err, s)
		n += int(must.Have(done.RowsAffected())(t))
	}
	return n
}
