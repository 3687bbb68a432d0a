package sqlrecord

import "frontdesk/mapping"

// SQLite returns the dialect of SQLite. Its tables are STRICT: SQLite rejects a value
// whose type is not the column's. Decimals are integers scaled by the field's decimals,
// timestamps milliseconds since 1970 in UTC. Writes exclude each other, so FOR UPDATE is
// not needed.
func SQLite() *Dialect {
	return &Dialect{
		Name:         "sqlite",
		Foreign:      sqliteForeign(),
		IDColumn:     "INTEGER PRIMARY KEY AUTOINCREMENT",
		BigInt:       "INTEGER",
		Present:      programClock + "()",
		TableOptions: " STRICT",
		quote:        `"`,
		placeholder:  '?',
		numbered:     true,
		columnType: func(f *mapping.Field) string {
			switch f.Type {
			case mapping.Int4, mapping.Timestamp:
				return "INTEGER"
			case mapping.Float8:
				if f.Scale >= 0 {
					return "INTEGER"
				}
				return "REAL"
			case mapping.Bytea:
				return "BLOB"
			default:
				return "TEXT"
			}
		},
		like:    [3]string{1: " GLOB "},
		pattern: GlobPattern,
		upper:   [2]string{"upper(", ")"},
		noLimit: " LIMIT -1",
		later:   func(column, moment string) string { return "max(" + column + " + 1, " + moment + ")" },
		reserve: func(resource string) []string {
			return []string{
				"UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = '" + resource + "'",
				"INSERT INTO sqlite_sequence (name, seq) SELECT '" + resource + "', ?1 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '" + resource + "')",
			}
		},
		lastID:      func(resource string) string { return "SELECT seq FROM sqlite_sequence WHERE name = '" + resource + "'" },
		columnNames: "SELECT name FROM pragma_table_info(?1)",
		sqlite:      true,
	}
}
