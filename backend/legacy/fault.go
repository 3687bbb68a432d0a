package legacy

import (
	"regexp"
	"strings"
)

// quotedName finds the name of a constraint in the words of an engine. Each has
// its own way; the last name that stands in one of them is meant.
var quotedName = regexp.MustCompile("(?i)" + strings.Join([]string{
	`for key '([^']+)'`,                       // MySQL 1062: Duplicate entry 'x' for key 'VTG.UQ_VTG'
	"constraint `([^`]+)`",                    // MySQL 1451, 1452
	`^Column '([^']+)' cannot be null`,        // MySQL 1048
	`^Field '([^']+)' doesn't have a default`, // MySQL 1364
	`constraint ['"]([^'"]+)['"]`,             // SQL Server 2627, 547
	`unique index '([^']+)'`,                  // SQL Server 2601
	`into column '([^']+)'`,                   // SQL Server 515
	`constraint failed: ([^:()]+?)(?: \(|$)`,  // SQLite: UNIQUE constraint failed: VTG.BEDRNR, VTG.KENT (2067)
}, "|"))

// constraintInWords finds the name of the constraint that a message of MySQL, SQL
// Server or SQLite is about, "" where there is none. It is the only place that
// reads words: these engines tell the name nowhere else, and it is asked only
// once the error's number has told what the message is.
func constraintInWords(message string) string {
	found := quotedName.FindAllStringSubmatch(message, -1)
	if len(found) == 0 {
		return ""
	}
	for _, name := range found[len(found)-1][1:] {
		if name == "" {
			continue
		}
		if table, key, ok := strings.Cut(name, "."); ok && !strings.Contains(key, ".") && !strings.Contains(name, ", ") && table != "" {
			return key // MySQL 8 puts the table before it
		}
		return name
	}
	return ""
}

// quotedColumns find the column that a value did not fit, and its table where that is
// told, in the words of an engine.
var quotedColumns = []*regexp.Regexp{
	regexp.MustCompile(`^.* for column '(?P<column>[^']+)' at row \d+$`),                                                                 // MySQL 1264, 1265, 1406
	regexp.MustCompile("^.* for column (?:(?:`(?P<schema>[^`]+)`\\.)?`(?P<table>[^`]+)`\\.)?`(?P<column>[^`]+)` at row \\d+$"),           // MariaDB 1292, 1366
	regexp.MustCompile(`^String or binary data would be truncated in table '(?:[^']+\.)?(?P<table>[^'.]+)', column '(?P<column>[^']+)'`), // SQL Server 2628
	regexp.MustCompile(`^Cannot insert the value NULL into column '(?P<column>[^']+)', table '(?:[^']+\.)?(?P<table>[^'.]+)'`),           // SQL Server 515
	regexp.MustCompile(`^constraint failed: cannot store \w+ value in \w+ column (?P<table>[^.]+)\.(?P<column>.+) \(3091\)$`),            // SQLite, of a strict table
	regexp.MustCompile(`^constraint failed: NOT NULL constraint failed: (?P<table>[^.]+)\.(?P<column>.+) \(1299\)$`),                     // SQLite
}

// columnInWords finds the column that a message about a value names, and the table where
// it names one, with its schema where it names that.
func columnInWords(message string) (table, column string) {
	for _, quoted := range quotedColumns {
		found := quoted.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		said := func(name string) string {
			if i := quoted.SubexpIndex(name); i >= 0 {
				return found[i]
			}
			return ""
		}
		return strings.TrimPrefix(said("schema")+"."+said("table"), "."), said("column")
	}
	return "", ""
}

// quotedTable finds the table whose condition MariaDB says a row does not fulfil (4025).
var quotedTable = regexp.MustCompile("^CONSTRAINT `[^`]+` failed for `([^`]+)`\\.`([^`]+)`$")

// tableInWords finds it, with its schema; "" where there is none.
func tableInWords(message string) string {
	if found := quotedTable.FindStringSubmatch(message); found != nil {
		return found[1] + "." + found[2]
	}
	return ""
}
