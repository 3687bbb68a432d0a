package sheet

import (
	"errors"
	"slices"
	"strings"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// sqlSheetFile is a mapping sheet in front of a database. What the database has is a column,
// or SQL; a parameter in SQL is a colon and its name.
type sqlSheetFile struct {
	// Format is the version of this format: 2.
	Format int `yaml:"format" schema:"required,enum=2"`
	// Source is the existing system.
	Source sqlSourceFile `yaml:"source" schema:"required"`
	headFile
	// Client is the column that tells whose record it is, or {read: SQL}, in every resource
	// that does not name its own.
	Client exprFile `yaml:"client"`
	// Accounts tells who may log in.
	Accounts sqlAccountsFile `yaml:"accounts"`
	// Resources are the resources that the system has, by their name in the interface. Those
	// not named do not exist for clients.
	Resources map[string]sqlResourceFile `yaml:"resources"`
}

// sqlSourceFile is where the records are.
type sqlSourceFile struct {
	// SQL is an existing SQL database.
	SQL *sqlFile `yaml:"sql"`
}

// sqlAccountsFile tells who may log in: exactly one of users, table and query.
type sqlAccountsFile struct {
	// Users are a fixed list, in the sheet.
	Users []sqlUserFile `yaml:"users"`
	foundFile
	forgottenFile
	// Columns are the user's facts in table or query.
	Columns sqlAccountColumnsFile `yaml:"columns"`
	// Clients is kept where what identifies a client, at client_id and at every client of the
	// sheet, is a text, for which a number is given out and kept. Default: it is a number.
	Clients string `yaml:"clients" schema:"enum=kept"`
}

// sqlUserFile is a user of the fixed list.
type sqlUserFile struct {
	loginFile
	// Client is whose records the user works on.
	Client sqlClientFile `yaml:"client" schema:"required"`
}

// sqlClientFile is a client: a customer of the vendor.
type sqlClientFile struct {
	// ID is the client's number; its text where clients are kept.
	ID string `yaml:"id" schema:"required"`
	// Name is what it is called, in logs and answers.
	Name string `yaml:"name" schema:"required"`
}

// sqlAccountColumnsFile are where the facts of a user are.
type sqlAccountColumnsFile struct {
	// ID is the user's number.
	ID sqlFactFile `yaml:"id"`
	// Username is the name that the user logs in with.
	Username sqlFactFile `yaml:"username"`
	// Password is the stored hash.
	Password sqlFactFile `yaml:"password"`
	// Email is where mail to the user goes.
	Email sqlFactFile `yaml:"email"`
	// ClientID tells the client whose records the user works on.
	ClientID sqlFactFile `yaml:"client_id"`
	// ClientName is what that client is called.
	ClientName sqlFactFile `yaml:"client_name"`
	// External is 1 for a user who has a login, but not for this interface.
	External sqlFactFile `yaml:"external"`
	// Blocked is 1 for a user who cannot log in.
	Blocked sqlFactFile `yaml:"blocked"`
}

// sqlFactFile is where a fact of a user is; a text is short for {column: text}.
type sqlFactFile struct {
	sqlFactSettings
	given bool
}

// sqlFactSettings is where a fact of a user is: exactly one of column, read and constant.
type sqlFactSettings struct {
	// Column is its column.
	Column names `yaml:"column"`
	// Read is SQL of its value, over the columns of table or query.
	Read string `yaml:"read"`
	// Codes is a code list, or the name of a shared one.
	Codes codesRefFile `yaml:"codes"`
	// Constant is the value for every user.
	Constant scalarFile `yaml:"constant"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (f *sqlFactFile) UnmarshalYAML(n strictyaml.Node) error {
	f.given = true
	if n.Kind() == strictyaml.Scalar {
		n.Decode(&f.Column)
		return nil
	}
	n.Decode(&f.sqlFactSettings)
	return nil
}

// sqlResourceFile is how the database has one resource.
type sqlResourceFile struct {
	rowsFile
	tableFile
	// Key is what identifies a record in the system.
	Key sqlKeyFile `yaml:"key"`
	// Client is the column that tells whose record it is; {read: SQL}; or {through: FIELD},
	// the field that refers to the record whose client it is; "" for none. Default: the
	// sheet's client.
	Client sqlWhoseFile `yaml:"client"`
	// Version is the column that changes with every change, or {read: SQL}; without one the
	// whole record is compared.
	Version exprFile `yaml:"version"`
	// Fields are how the fields are found, by their name in the interface. Fields not named do
	// not exist for clients.
	Fields map[string]sqlFieldFile `yaml:"fields" schema:"required"`
	// Constants are SQL of what every create sets, by column. They know :client,
	// :client_name, :user and :username.
	Constants pairs `yaml:"constants"`
	// Create are the statements that make a record, in their order; default among them is
	// what frontdesk does itself. They know what constants do, :key or :key.COLUMN, and
	// :FIELD, the value after the write. Without default the last one that answers a row tells
	// the key.
	Create names `yaml:"create"`
	// Update are the statements that change a record, as those of create.
	Update names `yaml:"update"`
	// Delete are the statements that remove a record, as those of create.
	Delete names `yaml:"delete"`
	// Operations tells which there are.
	Operations sqlOperationsFile `yaml:"operations"`
}

// sqlOperationsFile tells which operations there are.
type sqlOperationsFile struct {
	// Only are the operations that there are; default all five.
	Only []string `yaml:"only" schema:"items=get|list|create|update|delete"`
}

// sqlKeyFile is the primary key in the system.
type sqlKeyFile struct {
	// Columns make the key. Where the first is that of the client, references need not repeat
	// it.
	Columns names `yaml:"columns" schema:"required"`
	// ID is column when the only column is an int4 itself (default for one column), kept when
	// an int4 is given out for every key and kept (default for several).
	ID string `yaml:"id" schema:"enum=column|kept"`
	// Case is ignore where the system compares kept keys without case, so that AB01 and ab01
	// are one, exact where they are two; default what the database says.
	Case string `yaml:"case" schema:"enum=exact|ignore"`
	// Generated tells where the key of a new record comes from: identity (default of id:
	// column), max+1, supplied (by the fields), or {sql: SQL}.
	Generated generatedFile `yaml:"generated"`
}

// generatedFile is where a new key comes from.
type generatedFile struct {
	how string
	generatedSettings
}

// generatedSettings makes a new key.
type generatedSettings struct {
	// SQL is one statement or several; the last answers a row with the part of the key that
	// nothing else gives. They know :client, :client_name, :user and :username.
	SQL names `yaml:"sql" schema:"required"`
}

// generatedBySQL is Key.Generated of a key that statements make.
const generatedBySQL = "sql"

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (g *generatedFile) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() == strictyaml.Scalar {
		n.Decode(&g.how)
		return nil
	}
	g.how = generatedBySQL
	n.Decode(&g.generatedSettings)
	return silent(n, strings.Join(g.SQL, ""), "identity, max+1, supplied or {sql: SQL}")
}

// exprFile is a column, or {read: SQL}.
type exprFile struct{ Expr }

// readFile is what is read in place of a column.
type readFile struct {
	// Read is SQL over the columns of what is read.
	Read string `yaml:"read" schema:"required"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (e *exprFile) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() == strictyaml.Scalar {
		n.Decode(&e.Column)
		return nil
	}
	var read readFile
	n.Decode(&read)
	e.SQL = read.Read
	return silent(n, e.SQL, "a column, or {read: SQL}")
}

// silent is the error of a mapping that says nothing. Unknown keys were reported.
func silent(n strictyaml.Node, given, expected string) error {
	keys := n.Keys()
	if given == "" && (len(keys) == 0 || slices.Contains([]string{"read", "through", "sql"}, keys[0])) {
		return errors.New("found nothing, expected " + expected)
	}
	return nil
}

// sqlWhoseFile tells whose record it is: by a column, by SQL, or through a reference.
type sqlWhoseFile struct {
	whoseFile
	readFile
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (c *sqlWhoseFile) UnmarshalYAML(n strictyaml.Node) error {
	c.given = true
	if n.Kind() == strictyaml.Scalar {
		n.Decode(&c.place)
		return nil
	}
	var of struct {
		readFile
		throughFile
	}
	n.Decode(&of)
	c.readFile, c.throughFile = of.readFile, of.throughFile
	if c.parent = c.Through != ""; c.parent && c.Read != "" {
		return errors.New("found read and through, expected one of them")
	}
	return silent(n, c.Read+c.Through, "a column, {read: SQL} or {through: FIELD}")
}

// sqlFieldFile is how one field is found; a text or a list is short for {column: …}.
type sqlFieldFile struct{ sqlFieldSettings }

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (f *sqlFieldFile) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() == strictyaml.Scalar || n.Kind() == strictyaml.List {
		n.Decode(&f.Column)
		return nil
	}
	n.Decode(&f.sqlFieldSettings)
	return nil
}

// sqlFieldSettings is how one field is found: exactly one of column, read, constant and
// absent; nothing for an array.
type sqlFieldSettings struct {
	// Column is the column; several for a reference to a key of several columns.
	Column names `yaml:"column"`
	// Read is SQL of the value as the interface shows it, over the columns of what is read. It
	// knows :client.
	Read string `yaml:"read"`
	// Write is SQL of what a write sets, by column; it knows :value and :client. Without it,
	// and without a statement that names the field, a field with read is readonly. With column
	// it stands in place of setting that column to :value.
	Write pairs `yaml:"write"`
	// Find is a condition that all rows with the value :value fulfil, and maybe others, by
	// which the database finds them with an index; it knows :client too.
	Find string `yaml:"find"`
	// Ordered tells that the one column of write sorts as the values do.
	Ordered bool `yaml:"ordered"`
	// Codes is a code list, the system's value before the interface's, or the name of a shared
	// one. Of several for one value the first is written. With column.
	Codes codesRefFile `yaml:"codes"`
	// Unknown says what a code that is not in the list becomes: fail (default), or null.
	Unknown string `yaml:"unknown" schema:"enum=fail|null"`
	// Type is how a moment is kept where the type in the database does not say: datetime is a
	// date and time without a zone, timestamp one with a zone, epoch counts seconds.
	Type string `yaml:"type" schema:"enum=date|datetime|timestamp|epoch|epoch_millis"`
	// TimeZone is the zone of moments that name none. Default: the resource's time_zone.
	TimeZone config.Zone `yaml:"time_zone"`
	// Zero are stored values that mean null: "00000000", "0". The first is what null is
	// written as. With column.
	Zero names `yaml:"zero"`
	// Empty tells what an empty text is: empty (default) or null. With column.
	Empty string `yaml:"empty" schema:"enum=empty|null"`
	promiseFile

	named bool // by a statement of create or update
}
