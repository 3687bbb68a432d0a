package sheet

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/mapping"
)

// Among the statements of a sheet, OwnStatement stands for the statement of frontdesk's own, such as an
// INSERT in create. In a create whose row another statement has made, OwnUpdate writes the columns of all
// fields.
const (
	OwnStatement = "default"
	OwnUpdate    = "update"
)

// sqlLoader compiles a sheet in front of a database.
type sqlLoader struct {
	*loader
	file    sqlSheetFile
	changes Changes // the default for resources
}

func (l *sqlLoader) words() words {
	return words{place: "column", language: "SQL"}
}

func (l *sqlLoader) resources() []string { return sortedKeys(l.file.Resources) }

func (l *sqlLoader) source() bool {
	f := l.file.Source.SQL
	if f == nil {
		return false
	}
	for i, statement := range f.Session {
		if strings.TrimSpace(statement) == "" {
			l.fail(item("source.sql.session", i), "found an empty statement")
		}
	}
	l.sheet.Source.SQL = f
	f.DSN, f.Connections = l.dsn(f), cmp.Or(f.Connections, 16)
	l.judgeSQL("client.read", l.Client.Read.text)
	if l.changes = l.loadChanges("changes", l.file.Changes); l.changes.IsReported() || l.changes.Deleted != "" {
		l.fail("changes", "found what is of one resource, expected it there")
	}
	return true
}

// dsn returns the DSN in the sheet or in the file that it names.
func (l *sqlLoader) dsn(f *SQL) config.Secret {
	switch {
	case f.DSN != "" && f.DSNFile != "":
		l.fail("source.sql.dsn_file", "dsn is given too, expected one of them")
	case f.DSN == "" && f.DSNFile == "":
		l.fail("source.sql.dsn", "missing, expected dsn: ${VARIABLE}, or dsn_file")
	case f.DSNFile != "":
		text, _ := l.read("source.sql.dsn_file", l.relative(f.DSNFile))
		return config.Secret(strings.TrimSpace(string(text)))
	}
	return f.DSN
}

func (l *sqlLoader) accounts() (*usersFile, []choice) {
	f := &l.file.Accounts
	return &f.usersFile, []choice{{"table", f.Table != ""}, {"query", f.Query != ""}}
}

// found compiles the table or query that finds users.
func (l *sqlLoader) found() {
	f, a := &l.file.Accounts, &l.sheet.Accounts
	a.Table, a.Query = f.Table, f.Query
	l.judgeSQL("accounts.query", a.Query, "username")
	if a.Query != "" && FindParameter(a.Query, ":username") < 0 {
		l.fail("accounts.query", "found no :username, expected a query with that parameter")
	}
	if a.Table == "" && a.Query == "" {
		return
	}
	l.hashes(f.Hash)
	fields := factFields(l.sheet.ClientsKept)
	for i, from := range f.Columns.all(f.Columns.Password) {
		a.Facts = append(a.Facts, l.fact(i, from, &fields[i]))
	}
}

func (l *sqlLoader) hashes(files []hashFile) {
	if len(files) == 0 {
		l.fail("accounts.hash", "missing, expected how passwords are hashed, such as [bcrypt]")
	}
	for i, h := range files {
		path := item("accounts.hash", i)
		plain := slices.Contains([]string{"sha256", "sha1", "md5"}, h.Algorithm)
		if !plain && (h.Salt != "" || h.Order != "" || h.Encoding != "") {
			l.fail(path, "%s has salt and encoding in the hash itself, expected neither salt, order nor encoding", h.Algorithm)
		}
		l.sheet.Accounts.Hash = append(l.sheet.Accounts.Hash, auth.ForeignHash{Algorithm: h.Algorithm, Salt: h.Salt, PasswordSalt: h.Order == "password+salt", Base64: h.Encoding == "base64"})
	}
}

// fact compiles the place of a fact of a user. With a table the username is required, since it is searched by
// that; a query has :username.
func (l *sqlLoader) fact(i int, f sqlFactFile, of *mapping.Field) (c Column) {
	const at = "accounts.columns"
	isNeeded := i == FactPassword || i == FactClientID || i == FactUsername && l.file.Accounts.Table != ""
	c.Conversion = l.loader.fact(at, of, isNeeded, f.Column.given(), f.factFile)
	c.Read = f.Read.text
	if f.Column.given() && l.isPlace(f.Column.at, f.Column.text) {
		c.Names = []string{f.Column.text}
	}
	if f.Read.given() {
		l.judgeSQL(f.Read.at, f.Read.text)
	}
	return c
}

// statementParams are the parameters of all SQL that runs for a client's request.
var statementParams = []string{"client", "client_name", "user", "username"}

// judgeSQL reports empty SQL, unknown parameters, and known ones in quotes. It returns the names of the
// parameters.
func (l *sqlLoader) judgeSQL(path, text string, known ...string) (names []string) {
	if strings.TrimSpace(text) == "" && l.doc.Has(path) {
		l.fail(path, "found an empty text, expected SQL")
	}
	params, quoted := scanParams(text)
	for _, p := range quoted {
		if slices.Contains(known, p.Name) {
			l.fail(path, "found :%s in quotes, where it is a text: expected it without, it is a parameter", p.Name)
		}
	}
	var all []string
	for _, name := range known {
		all = append(all, ":"+name)
	}
	for _, p := range params {
		switch names = append(names, p.Name); {
		case slices.Contains(known, p.Name):
		case len(known) == 0:
			l.fail(path, "found %s, expected no parameter here", l.doc.Found(path, ":"+p.Name))
		default:
			l.unknown(path, "parameter", ":"+p.Name, all)
		}
	}
	return names
}

// isPlace reports whether the name of a column is well-formed, and fails if it is not.
func (l *sqlLoader) isPlace(path, name string) bool {
	is := name != "" && strings.TrimSpace(name) == name && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' })
	if !is {
		l.fail(path, "found %s, expected the name of a column, without blanks around it", l.doc.Found(path, name))
	}
	return is
}
