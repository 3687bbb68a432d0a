package legacy

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

func TestNamedParametersInTextOfTheSheet(t *testing.T) {
	for text, want := range map[string]string{
		"A = 1":                              "A = 1",
		"A = :client":                        "A = $1",
		"A = :client OR B = :client":         "A = $1 OR B = $2",
		"A = ':client'":                      "A = ':client'",
		`":client" = :client`:                `":client" = $1`,
		"[:client] = :client":                "[:client] = $1",
		"A::client = B":                      "A::client = B",
		"A = :clients":                       "A = :clients",
		"A = :client_id":                     "A = :client_id",
		"A = 'it''s :client' AND B=:client)": "A = 'it''s :client' AND B=$1)",
	} {
		require.Equal(t, want, newStatement(postgres{}).scoped(text, intRaw(7)).String())
	}
}

func TestIdentifiersAreQuoted(t *testing.T) {
	for _, c := range []struct {
		d    dialect
		want string
	}{
		{postgres{}, `"dbo"."a""b` + "`" + `]"`}, {mysqlDialect{}, "`dbo`.`a\"b``]`"}, {sqlite{}, `"dbo"."a""b` + "`" + `]"`},
	} {
		require.Equal(t, c.want, qualified(c.d, "dbo", "a\"b`]"))
	}
}

func TestRaws(t *testing.T) {
	require.Equal(t, numberRaw("0.1"), postgres{}.raw("FLOAT4", float64(float32(0.1))))
	require.Equal(t, numberRaw("0.1"), postgres{}.raw("FLOAT8", 0.1))
	require.Equal(t, textRaw("NaN"), postgres{}.raw("NUMERIC", "NaN"))
	require.Equal(t, numberRaw("99999999999999999999.99"), postgres{}.raw("NUMERIC", "99999999999999999999.99"))
	require.Equal(t, "NaN", postgres{}.raw("FLOAT8", math.NaN()).Text)
	require.Equal(t, numberRaw("18446744073709551615"), mysqlDialect{}.raw("UNSIGNED BIGINT", uint64(math.MaxUint64)))
	require.Equal(t, intRaw(257), mysqlDialect{}.raw("BIT", []byte{1, 1}))
	require.Equal(t, textRaw("0000-00-00"), mysqlDialect{}.raw("DATE", []byte("0000-00-00")))
	require.Equal(t, textRaw("2026-02-00 00:00:00"), mysqlDialect{}.raw("DATETIME", []byte("2026-02-00 00:00:00")))
	require.Equal(t, sheet.RawWall, mysqlDialect{}.raw("DATETIME", []byte("2026-02-01 10:11:12.250")).Kind)
	require.Equal(t, "2026-02-01T10:11:12.250", mysqlDialect{}.raw("DATETIME", []byte("2026-02-01 10:11:12.250")).String())
	require.Equal(t, bytesRaw([]byte{0}), mysqlDialect{}.raw("LONGBLOB", []byte{0}))
}

func TestChecksInAStatement(t *testing.T) {
	table := Table{Columns: []Column{{Name: "naam"}, {Name: "kvk nr"}, {Name: "dagen"}}}
	found := map[string][]string{}
	for name, text := range checksIn(`CREATE TABLE "check" (naam text CONSTRAINT [ck naam] CHECK (naam <> 'kvk nr)' /* dagen ) */ AND length(naam) > 1), -- check (dagen
		"kvk nr" text, dagen integer, CHECK ( dagen > (1 + 2) ), constraint twee check ("kvk nr" <> Naam and naam <> ''))`) {
		found[name] = table.columnsIn(text)
	}
	require.Equal(t, map[string][]string{"ck naam": {"naam"}, "dagen > (1 + 2)": {"dagen"}, "twee": {"kvk nr", "naam"}}, found)
	for range checksIn("CREATE TABLE t (a text CHECK (a <> '' AND (") { // never without an end
	}
	require.Empty(t, table.columnsIn(`" [ 'naam' `))
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		d          dialect
		err        error
		class      faultClass
		constraint string
	}{
		{postgres{}, &pgconn.PgError{Code: "23505", ConstraintName: "UQ"}, faultUnique, "UQ"},
		{postgres{}, &pgconn.PgError{Code: "23503", ConstraintName: "FK"}, faultForeign, "FK"},
		{postgres{}, &pgconn.PgError{Code: "23502", ColumnName: "C"}, faultNull, "C"},
		{postgres{}, &pgconn.PgError{Code: "23514", ConstraintName: "CK"}, faultCheck, "CK"},
		{postgres{}, &pgconn.PgError{Code: "40001"}, faultCollision, ""},
		{postgres{}, &pgconn.PgError{Code: "57P01"}, faultDown, ""},
		{mysqlDialect{}, &mysql.MySQLError{Number: 1062, Message: "Duplicate entry '1-a 'for key' b' for key 'UQ_VTG_KENT'"}, faultUnique, "UQ_VTG_KENT"},
		{mysqlDialect{}, &mysql.MySQLError{Number: 1062, Message: "Duplicate entry 'x' for key 'VTG.UQ_VTG_KENT'"}, faultUnique, "UQ_VTG_KENT"},
		{mysqlDialect{}, &mysql.MySQLError{Number: 1452, Message: "Cannot add or update a child row: a foreign key constraint fails (`d`.`ORDKOP`, CONSTRAINT `FK_ORDKOP_REL` FOREIGN KEY (`BEDRNR`, `RELNR`) REFERENCES `REL` (`BEDRNR`, `RELNR`))"}, faultForeign, "FK_ORDKOP_REL"},
		{mysqlDialect{}, &mysql.MySQLError{Number: 1048, Message: "Column 'NAAM' cannot be null"}, faultNull, "NAAM"},
		{mysqlDialect{}, &mysql.MySQLError{Number: 1364, Message: "Field 'NAAM' doesn't have a default value"}, faultNull, "NAAM"},
		{mysqlDialect{}, &mysql.MySQLError{Number: 4025, Message: "CONSTRAINT `CK_REL` failed for `d`.`REL`"}, faultCheck, "CK_REL"},
		{mysqlDialect{}, &mysql.MySQLError{Number: 3819, Message: "Check constraint 'CK_REL' is violated."}, faultCheck, "CK_REL"},
		{mysqlDialect{}, &mysql.MySQLError{Number: 1213}, faultCollision, ""},
		{mysqlDialect{}, &mysql.MySQLError{Number: 1053}, faultDown, ""},
	} {
		f, ok := c.d.fault(fmt.Errorf("wrapped: %w", c.err))
		require.True(t, ok)
		require.Equal(t, c.class, f.class, "%v", c.err)
		require.Equal(t, c.constraint, f.Constraint, "%v", c.err)
		_, ok = c.d.fault(errors.New("broken pipe"))
		require.False(t, ok)
	}
}
