package sqlrecord

import (
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// MySQL returns the dialect of MySQL, for databases of other programs: it makes no tables.
func MySQL() *Dialect {
	return &Dialect{
		Name:        "mysql",
		ForUpdate:   " FOR UPDATE",
		LockRange:   " FOR UPDATE",
		Present:     "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
		quote:       "`",
		placeholder: '?',
		like:        [3]string{"LOWER(", ") LIKE LOWER(", ") ESCAPE '!'"},
		pattern:     likePattern,
		upper:       [2]string{"UPPER(", ")"},
		noLimit:     " LIMIT 9223372036854775807",
		Foreign: Foreign{
			Catalogue: mysqlCatalogue(),
			PadsTexts: true, CastsRecollate: true, BackslashEscapes: true, NoReturning: true, LocksGaps: true, NamesConstraints: true,
			InUse:    Fault{SQLState: "23000", Code: "1451"},
			open:     openForeignMySQL,
			judge:    judged(mysqlConfig),
			readOnly: "SET SESSION TRANSACTION READ ONLY",
			Explain:  "EXPLAIN FORMAT=JSON ",
			Clock:    "FROM_UNIXTIME(%d)",
			SetZone:  "SET time_zone = '%s'",
			Round:    func(e Expr, _ Sort, scale int) Expr { return Wrap("ROUND(", e, ", "+strconv.Itoa(scale)+")") },
			Millis:   func(e Expr) Expr { return Wrap("LEFT(DATE_FORMAT(", e, ", '%Y-%m-%d %H:%i:%s.%f'), 23)") },
			Differ: func(a, b Expr, areTexts bool) Expr {
				if areTexts {
					return Wrap("NOT (CAST(CONVERT(", a, " USING utf8mb4) AS BINARY) <=> CAST(CONVERT(", b, " USING utf8mb4) AS BINARY))")
				}
				return Wrap("NOT (", a, " <=> ", b, ")")
			},
			StoredAs: func(name string, s Sort) string {
				if s == Integers && strings.Contains(name, "unsigned") {
					return "UNSIGNED"
				}
				return map[Sort]string{Decimals: "DECIMAL", Texts: "CHAR", Integers: "SIGNED", Days: "DATE", Clocks: "DATETIME(6)"}[s]
			},
			casts: map[Sort]string{Integers: "SIGNED", Decimals: "DECIMAL(65,{scale})", Floats: "DOUBLE", Texts: "CHAR"},
			sorts: map[string]Sort{"float": Singles, "float unsigned": Singles},
		},
	}
}

// MariaDB returns the dialect of MariaDB.
func MariaDB() *Dialect {
	d := MySQL()
	d.Name = "mariadb"
	// MySQL 5.7 has no conditions, and not the table either.
	d.Catalogue.Checks = `SELECT TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ` + mysqlSchema + ` ORDER BY 1, 2`
	d.Try = func(column string, _ mapping.Value) (set, take string) {
		return "SET @frontdesk_value = ?", "BEGIN NOT ATOMIC DECLARE held TYPE OF " + column + " DEFAULT @frontdesk_value; END"
	}
	return d
}

// likePattern finds a part of a text with LIKE; ! makes the next character plain.
func likePattern(part string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(part) + "%"
}
