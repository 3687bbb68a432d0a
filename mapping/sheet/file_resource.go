package sheet

import (
	"time"

	"frontdesk/config"
)

// resourceFile is how the system has one resource.
type resourceFile struct {
	tableFile
	// Key is what identifies a record in the system.
	Key keyFile `yaml:"key"`
	// Client is the column, or path, that tells whose record it is; or {through:
	// FIELD}, the field that refers to the record whose client it is; "" for
	// none. Default: the sheet's client.
	Client whoseFile `yaml:"client"`
	// Hidden is a condition, CEL over row, on which a record is not shown.
	Hidden string `yaml:"hidden"`
	// Version is the column, or path, that changes with every change; without
	// one the whole record is compared.
	Version string `yaml:"version"`
	// Fields are how the fields are found, by their name in the interface.
	// Fields not named do not exist for clients.
	Fields map[string]fieldFile `yaml:"fields" schema:"required"`
	// Constants are columns, or paths, that are set on every create.
	Constants values `yaml:"constants"`
	// Operations: which there are, and how each is done where it is not plain
	// SQL. Default with SQL: all five.
	Operations operationsFile `yaml:"operations"`
	// Order is the fixed order of lists, as columns, where the system cannot
	// sort; parameter sort is then refused. With HTTP: the paths by which the
	// service lists; parameter after goes by the key where that comes first.
	Order []string `yaml:"order"`
	// SoftDelete are the columns, or paths, that DELETE sets instead.
	SoftDelete values `yaml:"soft_delete"`
	// Filters are the fields that can be filtered by. Default with SQL: all that
	// are columns; with HTTP: those that the list's query names.
	Filters []string `yaml:"filters"`
	// Sorts are the fields that can be sorted by. Default with SQL: all that the
	// database can put into the order of the field; with HTTP: those of the list's sort.
	Sorts []string `yaml:"sorts"`

	asSQL *sqlResourceFile // that of format 2, which this is made of
	rows  rowsFile
}

// rowsFile is where the rows of a resource are.
type rowsFile struct {
	// Table is the table that is written, and read where read names no other.
	Table string `yaml:"table"`
	// Read is what is read in place of table: a view, or any other, or a SELECT in
	// parentheses.
	Read string `yaml:"read"`
	// Where is a condition, SQL, that records fulfil.
	Where string `yaml:"where"`
}

// tableFile is what resources of all systems have.
type tableFile struct {
	// Shared says that all clients see and change the same records, though they
	// require a reference to a record of a client.
	Shared bool `yaml:"shared"`
	// SystemClient is the value of client that marks records of all clients.
	SystemClient string `yaml:"system_client"`
	// Changes tells how it is known which records have changed. Default: the sheet's
	// changes.
	Changes changesFile `yaml:"changes"`
	// TimeZone is the zone of dates and times that name none, in every field
	// that does not say its own. Default: the sheet's time_zone.
	TimeZone config.Zone `yaml:"time_zone"`
	// ListRequires replaces the query parameters that lists ask for.
	ListRequires *[]string `yaml:"list_requires"`
}

// changesFile is how it is known which records have changed, for GET /changes.
type changesFile struct {
	// By is version when lists are asked for what was modified since, by modified_at;
	// table when a table of the database says which records have changed, feed when a
	// call of the service does; scan when all records are read and compared with what
	// was read before; none.
	By string `yaml:"by" schema:"enum=version|table|feed|scan|none"`
	// Every is how long after the end of a look the next one begins; default 1m by
	// version, 10s by table and feed, 10m by scan.
	Every time.Duration `yaml:"every"`
	// Settle is how long before it shows to others a writer of the system may have
	// taken the time, or the number, of a change; default 1m, by feed 0s. Not by scan.
	Settle *time.Duration `yaml:"settle"`
	// Deletions is how often all records are read, too, to find those that have gone.
	// Default: never, and deletions are not told unless the system says them. Not by scan.
	Deletions time.Duration `yaml:"deletions"`
	// Deleted is what rows have that the system marks instead of removing them. They are
	// asked for by modified_at, so that nothing else has to be read for them. Only by
	// version, with a database.
	Deleted *deletedFile `yaml:"deleted"`
	// Pause is the least time between two pages that are read; default 100ms.
	Pause time.Duration `yaml:"pause"`
	// Rate is how many records a second are read at most; default what pause and page allow.
	Rate int `yaml:"rate"`
	// Page is how many records are read at once; default 500.
	Page int `yaml:"page"`
	// Table is the table, or view, with a row for each change, by table.
	Table string `yaml:"table"`
	// Sequence is its column that grows: a whole number, or a date and time.
	Sequence string `yaml:"sequence"`
	// Key are the columns, or paths in an entry of the feed, that are the key of the
	// record; default those of the resource's key.
	Key names `yaml:"key"`
	// Where is a condition, SQL, that the rows of the table fulfil.
	Where string `yaml:"where"`
	// Keeps is how long the system keeps them. Whoever has looked last longer ago reads
	// all records again. Default: for ever.
	Keeps time.Duration `yaml:"keeps"`
	// Feed is the call that answers what has changed, by feed.
	Feed *feedFile `yaml:"feed"`
}

// deletedFile is what marks rows that are no more.
type deletedFile struct {
	// Column of the table that is written.
	Column string `yaml:"column" schema:"required"`
	// Values of it that say so.
	Values []scalarFile `yaml:"values" schema:"required"`
}

// feedFile is a call that answers what has changed after {cursor}, {limit} at most.
type feedFile struct {
	requestFile
	// Result is the path of the list of entries; "" for the answer itself.
	Result string `yaml:"result"`
	// Next is the path of the next cursor in the answer.
	Next string `yaml:"next"`
	// Position is the path in an entry of the cursor after it, where the answer has no next.
	Position string `yaml:"position"`
	// Start is the cursor of now, in the service's own word; default none, and all
	// that the service has is read through once.
	Start string `yaml:"start"`
	// Only are paths in an entry with what they must have, for a feed of several resources.
	Only pairs `yaml:"only"`
	// Gone recognises the answer that a cursor is too old; default status 410.
	Gone *matchFile `yaml:"gone"`
}

// keyFile is the primary key in the system.
type keyFile struct {
	// Columns, or paths, that make the key. Where the first is that of the
	// client's number, references need not repeat it.
	Columns names `yaml:"columns" schema:"required"`
	// ID is column when the only column is an int4 itself (default for one
	// column), kept when an int4 is given out for every key and kept (default
	// for several).
	ID string `yaml:"id" schema:"enum=column|kept"`
	// Case is ignore where the system compares kept keys without case, so that
	// AB01 and ab01 are one, exact where they are two; default what an SQL database
	// says, else exact.
	Case string `yaml:"case" schema:"enum=exact|ignore"`
	// Pad fills an ID, or a number that is made for a key, up to width: zero (zeros before),
	// where the system has it as a text.
	Pad string `yaml:"pad" schema:"enum=zero"`
	// Width is what pad fills up to.
	Width int `yaml:"width"`
	// Numbers are those of the columns that an HTTP service has as numbers, so that
	// it is sent them without quotes.
	Numbers names `yaml:"numbers"`
	// Generated tells where the key of a new record comes from: uuid, answer (an
	// operation's; default), or supplied (by the fields).
	Generated string `yaml:"generated" schema:"enum=uuid|answer|supplied"`
}

// fieldSettings is how one field is found and converted. Absent, null and empty
// stay three things, unless the field says otherwise.
type fieldSettings struct {
	// From is the column, or the path in a JSON or XML answer: customer.id,
	// lines.0.price, @attribute. Several make a reference to a composite key.
	From names `yaml:"from"`
	// Has is an element of the list at from, in JSON: the field is 1 where the list
	// has it, else 0. Written is the whole list, with what else it has.
	Has scalarFile `yaml:"has"`
	// Write is the column, or path, written where it is not from.
	Write names `yaml:"write"`
	// Type is the type in the system, where it does not follow from the field:
	// datetime is a date and time without a zone, timestamp one with a zone.
	Type string `yaml:"type" schema:"enum=text|integer|decimal|boolean|date|datetime|timestamp|bytes"`
	// Format of dates and times: yyyy MM dd HH mm ss SSS, a zone (Z, X, XX, XXX,
	// x, xx, xxx) and literals, letters in single quotes; or iso8601,
	// epoch_seconds, epoch_millis.
	Format string `yaml:"format"`
	// TimeFrom is a second column or path with the time of day.
	TimeFrom string `yaml:"time_from"`
	// TimeFormat is the format of time_from; default HHmmss.
	TimeFormat string `yaml:"time_format"`
	// TimeZone is the zone that it is in, where it names none. Default: the
	// resource's time_zone.
	TimeZone config.Zone `yaml:"time_zone"`
	// Zero are values that mean null: "00000000", "0000-00-00", "0". The first
	// is what null is written as.
	Zero names `yaml:"zero"`
	// Decimals is how many decimals an integer implies: 2 for cents.
	Decimals int `yaml:"decimals"`
	// Scale is how many decimals the system keeps, where they are fewer.
	Scale *int `yaml:"scale"`
	// DecimalComma tells that numbers are written with one.
	DecimalComma bool `yaml:"decimal_comma"`
	// Codes is a code list, the system's value before the interface's, or the
	// name of a shared one. Of several for one value the first is written.
	Codes codesRefFile `yaml:"codes"`
	// Unknown says what a code that is not in the list becomes: fail (default),
	// null, keep, or {value: x}.
	Unknown unknownFile `yaml:"unknown"`
	// Trim takes blanks off when read: none (default), right, both.
	Trim string `yaml:"trim" schema:"enum=none|right|both"`
	// Pad fills up to width when written: right (blanks behind) or zero (zeros
	// before, taken off when read).
	Pad string `yaml:"pad" schema:"enum=right|zero"`
	// Width is what pad fills up to.
	Width int `yaml:"width"`
	// Case is what letters become when written.
	Case string `yaml:"case" schema:"enum=upper|lower"`
	// Dashes tells that license plates are kept without dashes, in capitals:
	// none. Those of a Dutch form are shown with dashes again.
	Dashes string `yaml:"dashes" schema:"enum=keep|none"`
	// Charset that the text must fit in when written, and that bytes are read in.
	Charset string `yaml:"charset" schema:"enum=utf8|latin1|cp1252|ascii"`
	// Empty tells what an empty text is when read: empty (default) or null.
	Empty string `yaml:"empty" schema:"enum=empty|null"`
	// NullAs is what null is written as, where the system takes none.
	NullAs scalarFile `yaml:"null_as"`
	// CEL computes the value out of row, the system's record by columns or
	// paths. The field is readonly, unless set is given.
	CEL string `yaml:"cel"`
	// Set computes columns, or paths, in CEL out of value when the field is
	// written.
	Set pairs `yaml:"set"`
	// Children is the path of an array field's elements within the record;
	// without one they are the other resource's own records.
	Children string `yaml:"children"`
	promiseFile

	asSQL *sqlFieldSettings // those of format 2, which these are made of
	sql   string            // which computes the value
}

// promiseFile is what clients are promised of a field.
type promiseFile struct {
	// Constant is the value of every record, as clients see it; null for none.
	Constant scalarFile `yaml:"constant"`
	// Default is what a new record gets where none is supplied.
	Default scalarFile `yaml:"default"`
	// Stamp writes the present time: on create, or on every change.
	Stamp string `yaml:"stamp" schema:"enum=create|change"`
	// Readonly refuses the field in requests.
	Readonly bool `yaml:"readonly"`
	// Immutable refuses changes of the field after create.
	Immutable bool `yaml:"immutable"`
	// Required overrides the model, where the system is stricter or not.
	Required *bool `yaml:"required"`
	// Length overrides the model's, where the system is stricter.
	Length int `yaml:"length"`
	// Absent says that leaving out a required field is meant: it does not exist
	// for clients.
	Absent bool `yaml:"absent"`
}
