package legacytest

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(Run(m))) }

// onServers runs a test on both servers. Names stand in double quotes, which
// PostgreSQL asks for and MariaDB takes in this mode.
func onServers(t *testing.T, f func(t *testing.T, db *sql.DB, engine string)) {
	t.Run("mariadb", func(t *testing.T) {
		f(t, open(t, "mysql", MariaDB(t)+"?sql_mode=%27ANSI_QUOTES%27"), "mariadb")
	})
	t.Run("postgres", func(t *testing.T) { f(t, open(t, "pgx", Postgres(t)), "postgres") })
}

func open(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow(query).Scan(&n), query)
	return n
}

func do(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.Exec(statement)
	require.NoError(t, err, statement)
}

// refused expects a statement to fail as DEALERPAK's programs do.
func refused(t *testing.T, db *sql.DB, statement, state, message string) {
	t.Helper()
	_, err := db.Exec(statement)
	var maria *mysql.MySQLError
	var postgres *pgconn.PgError
	switch {
	case errors.As(err, &maria):
		require.Equal(t, "45000", string(maria.SQLState[:]))
		require.Equal(t, message, maria.Message)
	case errors.As(err, &postgres):
		require.Equal(t, state, postgres.Code)
		require.Equal(t, message, postgres.Message)
	default:
		t.Fatalf("%s: %v", statement, err)
	}
}

var counts = map[string]int{
	"BEDR": 5, "LAND": 16, "BTWTRF": 5, "OMZGRP": 50, "MDW": 33, "GEBRUIKER": 20, "REL": 200, "ART": 91,
	"VTG": 150, "ORDKOP": 300, "ORDRGL": 673, "DOKMT": 51, "NUMMERS": 15,
}

func TestEveryRowIsLoaded(t *testing.T) {
	check := func(t *testing.T, db *sql.DB) {
		for table, n := range counts {
			require.Equal(t, n, number(t, db, `SELECT COUNT(*) FROM "`+table+`"`), table)
		}
		gone := number(t, db, `SELECT COUNT(*) FROM "REL" WHERE "VERVALLEN" = 'J'`)
		require.Positive(t, gone)
		require.Equal(t, counts["REL"]-gone, number(t, db, `SELECT COUNT(*) FROM "V_RELATIE_ACTIEF"`))
		var name string
		require.NoError(t, db.QueryRow(`SELECT "NAAM" FROM "LAND" WHERE "LANDNR" = 56`).Scan(&name))
		require.Equal(t, "BELGIË", name)
	}
	onServers(t, func(t *testing.T, db *sql.DB, _ string) { check(t, db) })
	t.Run("sqlite", func(t *testing.T) { check(t, open(t, "sqlite", SQLite(t))) })
}

// Generated totals are those that the triggers come to.
func TestTotalsOfTheDataAreThoseOfTheTriggers(t *testing.T) {
	onServers(t, func(t *testing.T, db *sql.DB, _ string) {
		const sums = `SELECT SUM("TOTEX") * 7 + SUM("TOTIN") FROM "ORDKOP"`
		before := number(t, db, sums)
		rows, err := db.Query(`SELECT "BEDRNR", "ORDNR" FROM "ORDKOP" WHERE "STAT" NOT IN ('F', 'X')`)
		require.NoError(t, err)
		var keys [][2]int
		for rows.Next() {
			var k [2]int
			require.NoError(t, rows.Scan(&k[0], &k[1]))
			keys = append(keys, k)
		}
		require.NoError(t, rows.Err())
		require.Greater(t, len(keys), 50)
		for _, k := range keys {
			do(t, db, fmt.Sprintf(`UPDATE "ORDRGL" SET "VOLG" = "VOLG" + 1 WHERE "BEDRNR" = %d AND "ORDNR" = %d`, k[0], k[1]))
		}
		require.Equal(t, before, number(t, db, sums))
	})
}

// newOrder calls SP_NIEUWE_ORDER, which each engine has its own way of answering.
func newOrder(t *testing.T, db *sql.DB, engine string, branch, relation int) (nr int, err error) {
	t.Helper()
	call := fmt.Sprintf(`CALL "SP_NIEUWE_ORDER"(%d, 'W', %d, '20260701', '101500', `, branch, relation)
	if engine == "postgres" {
		err = db.QueryRow(call + "NULL)").Scan(&nr)
		return nr, err
	}
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), call+"@nr)"); err != nil {
		return 0, err
	}
	err = conn.QueryRowContext(t.Context(), "SELECT @nr").Scan(&nr)
	return nr, err
}

func TestAnOrderFromItsNumberToItsInvoice(t *testing.T) {
	onServers(t, func(t *testing.T, db *sql.DB, engine string) {
		last := number(t, db, `SELECT MAX("ORDNR") FROM "ORDKOP" WHERE "BEDRNR" = 2`)
		nr, err := newOrder(t, db, engine, 2, 1006)
		require.NoError(t, err)
		require.Equal(t, last+1, nr)
		this := fmt.Sprintf(`"BEDRNR" = 2 AND "ORDNR" = %d`, nr)
		of := func(column string) int { return number(t, db, `SELECT "`+column+`" FROM "ORDKOP" WHERE `+this) }
		require.Equal(t, 1, of("MUTNR"))

		line := `INSERT INTO "ORDRGL" ("BEDRNR", "ORDNR", "RGLNR", "OMS", "AANT", "PRIJS", "KORT", "OGRP") VALUES (2, %d, %d, 'Regel', %s, %d, %d, '%s')`
		do(t, db, fmt.Sprintf(line, nr, 1, "1.5", 8950, 125, "0200")) // 117.47, of 117.46875
		do(t, db, fmt.Sprintf(line, nr, 2, "1", 6250, 0, "0900"))     // exempt
		require.Equal(t, 11747+6250, of("TOTEX"))
		require.Equal(t, 11747+2467+6250, of("TOTIN"))
		require.Equal(t, 3, of("MUTNR"))
		do(t, db, `DELETE FROM "ORDRGL" WHERE "RGLNR" = 2 AND `+this)
		require.Equal(t, 11747, of("TOTEX"))

		do(t, db, `UPDATE "ORDKOP" SET "STAT" = 'F' WHERE `+this)
		require.Equal(t, number(t, db, `SELECT "LAATST" FROM "NUMMERS" WHERE "BEDRNR" = 2 AND "SRT" = 'FAC'`), of("FACTNR"))
		const closed = "DLR-0042 ORDER GEFACTUREERD"
		refused(t, db, `UPDATE "ORDKOP" SET "REF" = 'x' WHERE `+this, "DL042", closed)
		refused(t, db, `DELETE FROM "ORDKOP" WHERE `+this, "DL042", closed)
		refused(t, db, `UPDATE "ORDRGL" SET "PRIJS" = 1 WHERE `+this, "DL042", closed)
		refused(t, db, `DELETE FROM "ORDRGL" WHERE `+this, "DL042", closed)
		refused(t, db, fmt.Sprintf(line, nr, 3, "1", 100, 0, "0100"), "DL042", closed)
	})
}

func TestNoOrderForABlockedRelation(t *testing.T) {
	onServers(t, func(t *testing.T, db *sql.DB, engine string) {
		last := number(t, db, `SELECT "LAATST" FROM "NUMMERS" WHERE "BEDRNR" = 1 AND "SRT" = 'ORD'`)
		_, err := newOrder(t, db, engine, 1, 1018)
		require.ErrorContains(t, err, "DLR-0018 RELATIE GEBLOKKEERD")
		_, err = newOrder(t, db, engine, 1, 9999)
		require.ErrorContains(t, err, "DLR-0017 RELATIE ONBEKEND")
		require.Equal(t, last, number(t, db, `SELECT "LAATST" FROM "NUMMERS" WHERE "BEDRNR" = 1 AND "SRT" = 'ORD'`))
	})
}

func TestConstraintsSayTheirNames(t *testing.T) {
	onServers(t, func(t *testing.T, db *sql.DB, _ string) {
		_, err := db.Exec(`INSERT INTO "VTG" ("BEDRNR", "KENT", "MERK") SELECT "BEDRNR", "KENT", 'OPEL' FROM "VTG" WHERE "VTGID" = 1`)
		require.ErrorContains(t, err, "UQ_VTG_KENT")
		_, err = db.Exec(`DELETE FROM "REL" WHERE "BEDRNR" = 1 AND "RELNR" = 1006`)
		require.ErrorContains(t, err, "FK_")
		do(t, db, `INSERT INTO "VTG" ("BEDRNR", "KENT", "MERK") VALUES (1, 'NIEUW1', 'OPEL')`)
		require.Greater(t, number(t, db, `SELECT MAX("VTGID") FROM "VTG"`), counts["VTG"])
	})
}

func TestMariaDBHasZeroDatesAndCutsOff(t *testing.T) {
	db := open(t, "mysql", MariaDB(t)+"?parseTime=true")
	require.Positive(t, number(t, db, "SELECT COUNT(*) FROM VTG WHERE APKDAT = '0000-00-00'"))
	var zero time.Time
	require.NoError(t, db.QueryRow("SELECT APKDAT FROM VTG WHERE APKDAT = '0000-00-00' LIMIT 1").Scan(&zero))
	require.True(t, zero.IsZero())
	do(t, db, "UPDATE REL SET TUSV = 'longer than ten' WHERE BEDRNR = 1 AND RELNR = 1006")
	require.Equal(t, 10, number(t, db, "SELECT LENGTH(TUSV) FROM REL WHERE BEDRNR = 1 AND RELNR = 1006"))
}

func TestEveryTestHasItsOwnDatabase(t *testing.T) {
	onServers(t, func(t *testing.T, db *sql.DB, engine string) {
		do(t, db, `DELETE FROM "GEBRUIKER"`)
		other := map[string]func() *sql.DB{
			"mariadb":  func() *sql.DB { return open(t, "mysql", MariaDB(t)+"?sql_mode=%27ANSI_QUOTES%27") },
			"postgres": func() *sql.DB { return open(t, "pgx", Postgres(t)) },
		}[engine]()
		require.Equal(t, counts["GEBRUIKER"], number(t, other, `SELECT COUNT(*) FROM "GEBRUIKER"`))
	})
}
