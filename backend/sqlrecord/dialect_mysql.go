package sqlrecord

import "strings"

// MySQL returns the dialect of MySQL or MariaDB, which name says, for databases of other
// programs: it makes no tables.
func MySQL(name string) *Dialect {
	return &Dialect{
		Name:        name,
		ForUpdate:   " FOR UPDATE",
		LockRange:   " FOR UPDATE",
		Present:     "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
		quote:       "`",
		placeholder: '?',
		like:        [3]string{"LOWER(", ") LIKE LOWER(", ") ESCAPE '!'"},
		pattern:     likePattern,
		upper:       [2]string{"UPPER(", ")"},
		noLimit:     " LIMIT 9223372036854775807",
	}
}

// likePattern finds a part of a text with LIKE; ! makes the next character plain.
func likePattern(part string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(part) + "%"
}
