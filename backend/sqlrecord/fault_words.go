package sqlrecord

import (
	"regexp"
	"strings"
)

// Messages of MySQL and SQLite are read because these engines report a name nowhere else, and
// only after the error's number has said what kind of message it is.

// quotedName finds the name of a constraint in an engine's message. Each engine has its own
// form; the last match counts.
var quotedName = regexp.MustCompile("(?i)" + strings.Join([]string{
	`for key '([^']+)'`,                       // MySQL 1062: Duplicate entry 'x' for key 'VTG.UQ_VTG'
	"constraint `([^`]+)`",                    // MySQL 1451, 1452; MariaDB 4025
	`^Column '([^']+)' cannot be null`,        // MySQL 1048
	`^Field '([^']+)' doesn't have a default`, // MySQL 1364
	`constraint '([^']+)' is violated`,        // MySQL 3819
	`constraint failed: ([^:]+)$`,             // SQLite: UNIQUE constraint failed: VTG.BEDRNR, VTG.KENT
}, "|"))

// constraintInWords finds the constraint that a message names; "" if it names none.
func constraintInWords(message string) string {
	found := quotedName.FindAllStringSubmatch(message, -1)
	if len(found) == 0 {
		return ""
	}
	name := strings.Join(found[len(found)-1][1:], "") // one of them matched
	if table, key, ok := strings.Cut(name, "."); ok && !strings.Contains(key, ".") && !strings.Contains(name, ", ") && table != "" {
		return key // MySQL 8 puts the table before it
	}
	return name
}

// quotedColumns find the column that a value did not fit, and its table if named.
var quotedColumns = []*regexp.Regexp{
	regexp.MustCompile(`^.* for column '(?P<column>[^']+)' at row \d+$`),                                                       // MySQL 1264, 1265, 1406
	regexp.MustCompile("^.* for column (?:(?:`(?P<schema>[^`]+)`\\.)?`(?P<table>[^`]+)`\\.)?`(?P<column>[^`]+)` at row \\d+$"), // MariaDB 1292, 1366
	regexp.MustCompile(`cannot store \w+ value in \w+ column (?P<table>[^.]+)\.(?P<column>.+)$`),                               // SQLite, of a strict table
	regexp.MustCompile(`NOT NULL constraint failed: (?P<table>[^.]+)\.(?P<column>.+)$`),                                        // SQLite
}

// columnInWords finds the column that a message about a value names, and the table, with its
// schema, if it names them.
func columnInWords(message string) (table, column string) {
	for _, quoted := range quotedColumns {
		found := quoted.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		part := func(name string) string {
			if i := quoted.SubexpIndex(name); i >= 0 {
				return found[i]
			}
			return ""
		}
		return strings.TrimPrefix(part("schema")+"."+part("table"), "."), part("column")
	}
	return "", ""
}

// quotedTable finds the table of a failed CHECK in MariaDB's message (4025).
var quotedTable = regexp.MustCompile("^CONSTRAINT `[^`]+` failed for `([^`]+)`\\.`([^`]+)`$")

// tableInWords finds that table, with its schema; "" if there is none.
func tableInWords(message string) string {
	if found := quotedTable.FindStringSubmatch(message); found != nil {
		return found[1] + "." + found[2]
	}
	return ""
}

// nameless matches SQLite's messages that a name in a statement does not exist. All errors in
// statements have the same number, 1.
var nameless = regexp.MustCompile(`(?:^|: )(?:no such (?:table|column|function|view): |table \S.* has no column named |error in view |table \S.* has \d+ columns but \d+ values)`)
