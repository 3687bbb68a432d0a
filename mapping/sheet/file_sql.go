package sheet

import (
	"strings"
	"time"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// sqlSheetFile is a mapping sheet in front of a database. What the database has is a column,
// or SQL; a parameter in SQL is a colon and its name.
type sqlSheetFile struct {
	headFile
	// Source is the existing system.
	Source sqlSourceFile `yaml:"source" schema:"required"`
	// Changes tells how it is known which records have changed, in every resource
	// that does not say so itself; default none.
	Changes Changes `yaml:"changes"`
	// Accounts tells who may log in.
	Accounts sqlAccountsFile `yaml:"accounts"`
	// Errors translate errors of the database; the first that fits counts.
	Errors []sqlErrorFile `yaml:"errors"`
	// Resources are the resources that the system has, by their name in the interface. Those
	// not named do not exist for clients.
	Resources map[string]sqlResourceFile `yaml:"resources" schema:"required: the resources that the system has, such as contact"`
}

// sqlSourceFile is where the records are.
type sqlSourceFile struct {
	// SQL is an existing SQL database.
	SQL *SQL `yaml:"sql"`
}

// zoned are the engines that have a type for times with a zone; "" is a missing engine, which is reported
// elsewhere.
var zoned = []string{"", "postgres"}

// SQL is an existing SQL database.
type SQL struct {
	// Engine is the kind of database.
	Engine string `yaml:"engine" schema:"required; enum=postgres|mariadb|mysql|sqlite"`
	// DSN is how the engine's Go driver is told where the database is.
	DSN config.Secret `yaml:"dsn"`
	// DSNFile is a file that holds the DSN, in place of dsn.
	DSNFile string `yaml:"dsn_file"`
	// Schema is put before table names that name none.
	Schema string `yaml:"schema"`
	// Connections is how many are open at most; default 16.
	Connections int `yaml:"connections" schema:"min=1"`
	// Session are statements run on every new connection, such as SET NAMES.
	Session []string `yaml:"session"`
	// Idempotency is a table that the vendor made for answers under idempotency
	// keys; without one they are in the id store (keep).
	Idempotency string `yaml:"idempotency"`
}

// sqlAccountsFile tells who may log in: exactly one of users, table and query.
type sqlAccountsFile struct {
	usersFile
	// Table finds a user by name.
	Table string `yaml:"table"`
	// Query finds a user by name: a SELECT, or call of a procedure, with
	// :username as its only parameter.
	Query string `yaml:"query"`
	// Hash is how passwords are hashed. Of several, the form of the
	// stored hash tells which.
	Hash []hashFile `yaml:"hash"`
	// Columns are the user's facts in table or query.
	Columns sqlFactsFile `yaml:"columns"`
}

// hashFile is how a password is hashed.
type hashFile struct {
	// Algorithm is that of the hash. Those from md5crypt on are unsafe and only
	// there for what exists.
	Algorithm string `yaml:"algorithm" schema:"required; short; enum=argon2id|bcrypt|phpass|sha512crypt|sha256crypt|md5crypt|sha256|sha1|md5"`
	// Salt is the column of the salt.
	Salt string `yaml:"salt"`
	// Order is how salt and password are joined: salt+password (default) or
	// password+salt.
	Order string `yaml:"order" schema:"enum=salt+password|password+salt"`
	// Encoding is how the hash is written: hex (default) or base64.
	Encoding string `yaml:"encoding" schema:"enum=hex|base64"`
}

// sqlFactsFile are where the facts of a user are.
type sqlFactsFile struct {
	factsFile[sqlFactFile]
	// Password is the stored hash.
	Password sqlFactFile `yaml:"password"`
}

// sqlFactFile is where a fact of a user is: exactly one of column, read and constant.
type sqlFactFile struct {
	// Column is its column.
	Column textFile `yaml:"column" schema:"short"`
	factFile
}

// sqlResourceFile is how the database has one resource.
type sqlResourceFile struct {
	// Table is the table that is written, and read where read names no other.
	Table string `yaml:"table"`
	// Read is what is read in place of table: a view, or any other, or a SELECT in
	// parentheses.
	Read string `yaml:"read"`
	// Where is a condition, SQL, that records fulfil.
	Where string `yaml:"where"`
	// Key is what identifies a record in the system.
	Key sqlKeyFile `yaml:"key"`
	ownerFile
	// Changes tells how it is known which records have changed. Default: the sheet's
	// changes.
	Changes Changes `yaml:"changes"`
	// Fields are how the fields are found, by their name in the interface. Fields not named do
	// not exist for clients.
	Fields map[string]sqlFieldFile `yaml:"fields" schema:"required"`
	// Constants are SQL of what every create sets, by column. They know :client,
	// :client_name, :user and :username.
	Constants assigns `yaml:"constants"`
	// Create are the statements that make a record, in their order; default among them is
	// what frontdesk does itself. They know what constants do, :key or :key.COLUMN, and
	// :FIELD, the value after the write. Without default the last one that answers a row tells
	// the key.
	Create names `yaml:"create"`
	// Update are the statements that change a record, as those of create.
	Update names `yaml:"update"`
	// Delete are the statements that remove a record, as those of create.
	Delete names `yaml:"delete"`
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

// generatedBySQL is the Key.Generated of a key that statements make.
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

// sqlFieldFile is how one field is found: exactly one of column, read, constant and
// absent; nothing for an array.
type sqlFieldFile struct {
	Column
	conversionFile
}

// Column is how a database has one value. The zero Column is of what it does not have, such as
// an array.
type Column struct {
	// Names is the column; several for a reference to a key of several columns.
	Names names `yaml:"column" schema:"short"`
	// Read is SQL of the value as the interface shows it, over the columns of what is read; of a
	// reference to records with kept IDs of their key. It knows :client.
	Read string `yaml:"read"`
	// Write is SQL of what a write sets, by column; it knows :value and :client. Without it,
	// and without a statement that names the field, a field with read is readonly. With column
	// it stands in place of setting that column to :value, which of several columns is the part
	// of the key in each.
	Write assigns `yaml:"write"`
	// Find is a condition that all rows with the value :value fulfil, and maybe others, by
	// which the database finds them with an index; it knows :client too.
	Find string `yaml:"find"`
	// Ordered tells that the one column of write sorts as the values do.
	Ordered bool `yaml:"ordered"`
	// Stamp writes the present time: on create, or on every change.
	Stamp Stamp `yaml:"stamp" schema:"enum=create|change"`

	ByStatement bool // a statement of create or update names the field
	Conversion
}

// sqlErrorFile translates an error of the database.
type sqlErrorFile struct {
	// When recognises the error.
	When faultFile `yaml:"when" schema:"required"`
	meaning
	// FieldFrom is where the database names the field: constraint, or message with the
	// first group of when.message.
	FieldFrom string `yaml:"field_from" schema:"enum=constraint|message"`
	// Value is message where the refused value is the last group of when.message. Without it
	// the value that was sent is shown.
	Value string `yaml:"value" schema:"enum=message"`
}

// faultFile recognises an error of the database. All that is given must hold.
type faultFile struct {
	// SQLState is that of the error, 23505, or its class, 23.
	SQLState string `yaml:"sqlstate" schema:"pattern=^[0-9A-Z]{2}([0-9A-Z]{3})?$: five letters and digits such as 23505, or the first two"`
	// Code is the vendor's number, 1062.
	Code string `yaml:"code"`
	// Constraint is the name of the constraint or index.
	Constraint string `yaml:"constraint"`
	// Message is a regular expression (RE2) over the message.
	Message string `yaml:"message"`
}

// Changes is how it is known which records have changed, for GET /changes.
type Changes struct {
	// By is version when lists are asked for what was modified since, by modified_at;
	// table when a table of the database says which records have changed; scan when all
	// records are read and compared with what was read before; none.
	By string `yaml:"by" schema:"required; enum=version|table|scan|none"`
	// Every is how long after the end of a look the next one begins; default 1m by
	// version, 10s by table, 10m by scan.
	Every time.Duration `yaml:"every" schema:"above=0s"`
	// Settle is how long before it shows to others a writer of the system may have
	// taken the time, or the number, of a change; default 1m. Not by scan.
	Settle time.Duration `yaml:"settle" schema:"min=0s"`
	// Deletions is how often all records are read, too, to find those that have gone.
	// Default: never, and deletions are not told unless the system says them. Not by scan.
	Deletions time.Duration `yaml:"deletions" schema:"above=0s"`
	// Deleted is SQL that rows fulfil which the system marks instead of removing them. They are
	// asked for by modified_at, so that nothing else has to be read for them. Only by version.
	Deleted string `yaml:"deleted"`
	// Pause is the least time between two pages that are read; default 100ms.
	Pause time.Duration `yaml:"pause" schema:"above=0s"`
	// Rate is how many records a second are read at most; default what pause and page allow.
	Rate int `yaml:"rate" schema:"min=1"`
	// Page is how many records are read at once; default 500.
	Page int `yaml:"page" schema:"min=1"`
	// Table is the table, or view, with a row for each change, by table.
	Table string `yaml:"table"`
	// Sequence is its column that grows: a whole number, or a date and time.
	Sequence string `yaml:"sequence"`
	// Key are the columns that are the key of the record; default those of the resource's
	// key.
	Key names `yaml:"key"`
	// Where is a condition, SQL, that the rows of the table fulfil.
	Where string `yaml:"where"`
	// Keeps is how long the system keeps them. Whoever has looked last longer ago reads
	// all records again. Default: for ever.
	Keeps time.Duration `yaml:"keeps" schema:"above=0s"`
}
