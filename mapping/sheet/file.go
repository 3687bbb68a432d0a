package sheet

import (
	"time"
)

// file is a mapping sheet as a vendor writes it. The decoder, the JSON Schema
// and the documentation all come from these structs: the comment of a field is
// its description, a `schema:"…"` tag says what the type cannot.
type file struct {
	// Format is the version of this format, 1.
	Format int `yaml:"format"`
	// Source is the existing system: exactly one of its kinds.
	Source sourceFile `yaml:"source"`
	// TimeZone is the zone of dates and times that name none.
	TimeZone string `yaml:"time_zone"`
	// Keep is the gateway's own small SQLite file for what the existing system
	// has no place for: the IDs given out for foreign keys, and answers under
	// idempotency keys.
	Keep string `yaml:"keep"`
	// Rules tells who keeps the business rules: gateway (default) or backend,
	// when the existing system enforces its own.
	Rules string `yaml:"rules"`
	// WithoutRules are rules that are not kept because the system lacks the
	// fields that they work with.
	WithoutRules []string `yaml:"without_rules"`
	// Accounts tells who may log in.
	Accounts accountsFile `yaml:"accounts"`
	// Codes are code lists that several fields share, by name.
	Codes map[string]codesFile `yaml:"codes"`
	// Errors translate errors of the system; the first that fits counts.
	Errors []errorFile `yaml:"errors"`
	// Resources are the resources that the system has, by their name in the
	// interface. Those not named do not exist for clients.
	Resources map[string]resourceFile `yaml:"resources"`
}

// sourceFile is where the records are.
type sourceFile struct {
	SQL  *sqlFile  `yaml:"sql"`
	HTTP *httpFile `yaml:"http"`
	// Frontdesk is a service that speaks the frontdesk backend protocol.
	Frontdesk *frontdeskFile `yaml:"frontdesk"`
}

// sqlFile is an existing SQL database.
type sqlFile struct {
	// Engine is postgres, mariadb, mysql, sqlserver or sqlite.
	Engine string `yaml:"engine"`
	// DSN is how the engine's Go driver is told where the database is.
	DSN string `yaml:"dsn"`
	// DSNFile is a file that holds the DSN, in place of dsn.
	DSNFile string `yaml:"dsn_file"`
	// Schema is put before table names that name none.
	Schema string `yaml:"schema"`
	// Connections is how many are open at most; default 16.
	Connections int `yaml:"connections"`
	// Session are statements run on every new connection, such as SET NAMES.
	Session []string `yaml:"session"`
	// Idempotency is a table that the vendor made for answers under idempotency
	// keys; without one they are kept in keep.
	Idempotency string `yaml:"idempotency"`
}

// httpFile is an existing HTTP service.
type httpFile struct {
	// URL is the address that paths of operations are put after.
	URL string `yaml:"url"`
	// Format is json (default) or xml.
	Format string `yaml:"format"`
	// Timeout is of one call; default 5s, never more than backend.timeout.
	Timeout time.Duration `yaml:"timeout"`
	// Connections is how many are open at most; default 64.
	Connections int `yaml:"connections"`
	// MaxAnswer is the largest answer read; default 16MiB.
	MaxAnswer string `yaml:"max_answer"`
	// CAFile holds further authorities to trust, PEM.
	CAFile string `yaml:"ca_file"`
	// Headers are sent with every call; values are templates.
	Headers map[string]string `yaml:"headers"`
	// LogOn gets the token that calls are made with.
	LogOn *logOnFile `yaml:"log_on"`
	// Envelope is a template around every XML body; {body} is the operation's.
	Envelope string `yaml:"envelope"`
	// Retries is how often a read is tried again after a failure; default 1.
	Retries *int `yaml:"retries"`
}

// logOnFile is a log-on before other calls.
type logOnFile struct {
	Request requestFile `yaml:"request"`
	// Token is the path of the token in the answer.
	Token string `yaml:"token"`
	// ExpiresIn is the path of its lifetime in seconds; else Lifetime holds.
	ExpiresIn string        `yaml:"expires_in"`
	Lifetime  time.Duration `yaml:"lifetime"`
	// Headers are sent with every other call; {token} is the token.
	Headers map[string]string `yaml:"headers"`
	// RenewOn recognises an answer that says the token has expired.
	RenewOn matchFile `yaml:"renew_on"`
}

// frontdeskFile is a service that speaks the frontdesk backend protocol.
type frontdeskFile struct {
	URL         string        `yaml:"url"`
	Token       string        `yaml:"token"` // sent as Authorization: Bearer
	TokenFile   string        `yaml:"token_file"`
	CAFile      string        `yaml:"ca_file"`
	Timeout     time.Duration `yaml:"timeout"`
	Connections int           `yaml:"connections"`
}

// requestFile is one call of an HTTP service. Path, query values, header values
// and body are templates: {key}, {key.1}, {client.id}, {client.name}, {token},
// {limit}, {offset}, {page}, {cursor}, {username}, {password}, {filter.FIELD},
// {value.FIELD} (as the system has it), {fields} (all supplied fields, mapped).
// Each value is escaped for where it stands. A query parameter or element
// whose only value is absent is left out.
type requestFile struct {
	Method  string            `yaml:"method"`
	Path    string            `yaml:"path"`
	Query   map[string]string `yaml:"query"`
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
	// ContentType of the body; default that of the format.
	ContentType string        `yaml:"content_type"`
	Timeout     time.Duration `yaml:"timeout"`
}

// accountsFile tells who may log in: exactly one of its kinds.
type accountsFile struct {
	// Users are a fixed list, in the sheet.
	Users []userFile `yaml:"users"`
	// Table or Query finds a user by name in SQL: a table with columns, or a
	// SELECT (or procedure call) with :username as its only parameter.
	Table   string            `yaml:"table"`
	Query   string            `yaml:"query"`
	Columns accountColumnFile `yaml:"columns"`
	// Hash is how passwords are hashed in SQL: argon2id, bcrypt, phpass,
	// sha512crypt, {algorithm: sha1|sha256|md5, salt: COLUMN, order:
	// salt+password|password+salt, encoding: hex|base64}. Several are tried by
	// the form of the stored hash.
	Hash []hashFile `yaml:"hash"`
	// Verify checks username and password by an HTTP call; Result are the paths
	// of the user's facts in its answer, Refused recognises wrong credentials.
	Verify  *requestFile      `yaml:"verify"`
	Find    *requestFile      `yaml:"find"` // the same without a password
	Result  accountColumnFile `yaml:"result"`
	Refused matchFile         `yaml:"refused"`
	// ForgotPassword is where users change a forgotten password, since
	// frontdesk cannot write it: put into the mail in place of a reset link.
	ForgotPassword string `yaml:"forgot_password"`
}

type userFile struct {
	Username string `yaml:"username"`
	// PasswordHash is argon2id, as `frontdesk key hash` prints it.
	PasswordHash string     `yaml:"password_hash"`
	Email        string     `yaml:"email"`
	Client       clientFile `yaml:"client"`
	External     bool       `yaml:"external"`
	Blocked      bool       `yaml:"blocked"`
}

type clientFile struct {
	// ID is the client's number; Name what it is called, in logs and answers.
	ID   int64  `yaml:"id"`
	Name string `yaml:"name"`
}

// accountColumnFile are columns, or paths of an answer, or {constant: …}.
type accountColumnFile struct {
	ID         fieldFile `yaml:"id"`
	Username   fieldFile `yaml:"username"`
	Password   fieldFile `yaml:"password"`
	Email      fieldFile `yaml:"email"`
	ClientID   fieldFile `yaml:"client_id"`
	ClientName fieldFile `yaml:"client_name"`
	External   fieldFile `yaml:"external"`
	Blocked    fieldFile `yaml:"blocked"`
}

type hashFile struct {
	Algorithm string `yaml:"algorithm"`
	Salt      string `yaml:"salt"`
	Order     string `yaml:"order"`
	Encoding  string `yaml:"encoding"`
}

// codesFile is a code list: what the system has → what clients see. Written as
// a mapping; the key "" is the empty text.
type codesFile map[string]string

// errorFile translates an error of the system.
type errorFile struct {
	When matchFile `yaml:"when"`
	// Reason is a reason of the error catalogue, as docs/interface.md lists it.
	Reason string `yaml:"reason"`
	// Field is the field it is about; or it is found by FieldFrom: a path of
	// the answer whose text Fields translates.
	Field     string            `yaml:"field"`
	FieldFrom string            `yaml:"field_from"`
	Fields    map[string]string `yaml:"fields"`
	// Value is where the refused value is found; without it the value sent is
	// shown.
	Value string `yaml:"value"`
	// On narrows it to resources and operations: order, order.create.
	On []string `yaml:"on"`
}

// matchFile recognises an answer of the system. All that is given must hold.
type matchFile struct {
	// SQLState, e.g. 23505; a prefix of two characters is the class.
	SQLState string `yaml:"sqlstate"`
	// Code is the vendor's number or code: 1062; of HTTP, the text at CodeAt.
	Code   string `yaml:"code"`
	CodeAt string `yaml:"code_at"`
	// Constraint is the name of the constraint or index.
	Constraint string `yaml:"constraint"`
	// Status is the HTTP status, or 4xx, 5xx.
	Status string `yaml:"status"`
	// Message is a regular expression (RE2) over the message; of HTTP, over the
	// text at MessageAt, else over the body.
	Message   string `yaml:"message"`
	MessageAt string `yaml:"message_at"`
}

// resourceFile is how the system has one resource.
type resourceFile struct {
	// Table is the table, Read what is read in its place: a view, or any other.
	Table string `yaml:"table"`
	Read  string `yaml:"read"`
	// Key is what identifies a record in the system.
	Key keyFile `yaml:"key"`
	// Client is the column, or path, that tells whose record it is; "" where
	// all clients share the records. Default: source-wide, see ClientColumn.
	Client *string `yaml:"client"`
	// SystemClient is the value of Client that marks records of all clients.
	SystemClient string `yaml:"system_client"`
	// Where is a condition, SQL, that records fulfil.
	Where string `yaml:"where"`
	// Hidden is a condition, CEL over row, on which a record is not shown.
	Hidden string `yaml:"hidden"`
	// Version is the column, or path, that changes with every change; without
	// one the whole record is compared.
	Version string `yaml:"version"`
	// Fields are how the fields are found, by their name in the interface. A
	// text is short for {from: text}. Fields not named do not exist for clients.
	Fields map[string]fieldFile `yaml:"fields"`
	// Constants are columns, or paths, that are set on every create.
	Constants map[string]string `yaml:"constants"`
	// Operations: which there are, and how each is done where it is not plain
	// SQL. Default with SQL: all five.
	Operations operationsFile `yaml:"operations"`
	// Order is the fixed order of lists, as columns, where the system cannot
	// sort; parameter sort is then refused.
	Order []string `yaml:"order"`
	// SoftDelete are the columns, or paths, that DELETE sets instead.
	SoftDelete map[string]string `yaml:"soft_delete"`
	// Filters are the fields that can be filtered by; default with SQL: all that
	// are columns, with HTTP: those that list's query names.
	Filters []string `yaml:"filters"`
	// ListRequires replaces the query parameters that lists ask for.
	ListRequires []string `yaml:"list_requires"`
}

// keyFile is the primary key in the system.
type keyFile struct {
	// Columns, or paths, that make the key; the first that is the client's own
	// number need not be repeated.
	Columns []string `yaml:"columns"`
	// ID is column when the only column is an int4 itself (default for one
	// column), kept when an int4 is given out for every key and kept.
	ID string `yaml:"id"`
	// Generated tells where the key of a new record comes from: identity,
	// sequence:NAME, max+1, uuid, answer (an operation's), or supplied (by the
	// fields).
	Generated string `yaml:"generated"`
}

// fieldFile is how one field is found and converted. Absent, null and empty
// stay three things, unless the field says otherwise.
type fieldFile struct {
	// From is the column, or the path in a JSON or XML answer: customer.id,
	// lines.0.price, @attribute. Several make a reference to a composite key.
	From fromFile `yaml:"from"`
	// Write is the column, or path, written where it is not From.
	Write string `yaml:"write"`
	// Type is the type in the system, where it does not follow from the field:
	// text, integer, decimal, boolean, date, datetime, bytes.
	Type string `yaml:"type"`
	// Format of dates and times: yyyy MM dd HH mm ss SSS and literals; iso8601,
	// epoch_seconds, epoch_millis. TimeFrom is a second column or path with the
	// time of day, in TimeFormat.
	Format     string `yaml:"format"`
	TimeFrom   string `yaml:"time_from"`
	TimeFormat string `yaml:"time_format"`
	// Zero are values that mean null: "00000000", "0000-00-00", "0".
	Zero []string `yaml:"zero"`
	// Decimals is how many decimals an integer implies: 2 for cents.
	Decimals int `yaml:"decimals"`
	// DecimalComma tells that numbers are written with one.
	DecimalComma bool `yaml:"decimal_comma"`
	// Codes is a code list, or the name of one. Unknown says what a code that is
	// not in it becomes: fail (default), null, keep, or {value: x}.
	Codes   codesRefFile `yaml:"codes"`
	Unknown string       `yaml:"unknown"`
	// Trim is none (default), right, both; Pad fills up to Width when written,
	// right (blanks behind) or zero (zeros before). Case: upper or lower when
	// written.
	Trim  string `yaml:"trim"`
	Pad   string `yaml:"pad"`
	Width int    `yaml:"width"`
	Case  string `yaml:"case"`
	// Charset that the text must fit in when written: latin1, cp1252, ascii.
	Charset string `yaml:"charset"`
	// Empty tells what an empty text is when read: empty (default) or null; and
	// NullAs what a null is written as, where the column takes none.
	Empty  string  `yaml:"empty"`
	NullAs *string `yaml:"null_as"`
	// Constant is the value of every record, as clients see it; null for none.
	Constant *string `yaml:"constant"`
	// Default is what a new record gets where none is supplied.
	Default string `yaml:"default"`
	// CEL computes the value out of row, the system's record by columns or
	// paths; SQL computes it in the database. Both make the field readonly.
	CEL string `yaml:"cel"`
	SQL string `yaml:"sql"`
	// Set computes columns, or paths, out of value when a CEL field is written:
	// which makes it writable.
	Set map[string]string `yaml:"set"`
	// Lookup takes the value from another table.
	Lookup *lookupFile `yaml:"lookup"`
	// Children are the elements of an array field: the resource's own records
	// (default with SQL), or the path of the list within the parent's answer.
	Children string `yaml:"children"`
	// Readonly refuses the field in requests.
	Readonly bool `yaml:"readonly"`
	// Required, Length override the model where the system is stricter.
	Required *bool `yaml:"required"`
	Length   int   `yaml:"length"`
}

// lookupFile finds a value in another table: SELECT take FROM table WHERE each
// of match's columns equals the record's column of that name.
type lookupFile struct {
	Table string            `yaml:"table"`
	Match map[string]string `yaml:"match"` // lookup's column → record's column
	Take  string            `yaml:"take"`
}

// operationsFile are the operations of a resource.
type operationsFile struct {
	Only   []string       `yaml:"only"` // get, list, create, update, delete; all where empty
	Get    *operationFile `yaml:"get"`
	List   *operationFile `yaml:"list"`
	Create *operationFile `yaml:"create"`
	Update *operationFile `yaml:"update"`
	Delete *operationFile `yaml:"delete"`
}

// operationFile is one operation: a stored procedure, or an HTTP call.
type operationFile struct {
	// Procedure is called with the Arguments: names of columns of the record as
	// it is written, :client for the client's number. Its result row, or the
	// Out parameters, are columns too.
	Procedure string   `yaml:"procedure"`
	Arguments []string `yaml:"arguments"`
	Out       []string `yaml:"out"`

	requestFile
	// Result is the path of the record, or of the list of them, in the answer;
	// "" for the answer itself, none when the answer tells nothing: the record
	// is then read again, or is what was sent where there is no get.
	Result string `yaml:"result"`
	// ReadBack reads the record again after a write.
	ReadBack bool `yaml:"read_back"`
	// Send says what {fields} of an update are: changed (default) or all.
	Send string `yaml:"send"`
	// NotFound recognises the answer that there is no such record; default 404.
	NotFound *matchFile  `yaml:"not_found"`
	Paging   *pagingFile `yaml:"paging"`
	Total    *totalFile  `yaml:"total"`
}

// pagingFile is how a list is paged.
type pagingFile struct {
	// Style is offset, page, cursor, link (a Link header or a path to the next
	// address), or none (the whole list at once).
	Style string `yaml:"style"`
	// Size is how many records a page of the system has at most.
	Size int `yaml:"size"`
	// First is the number of the first page; default 1.
	First *int `yaml:"first"`
	// Next is the path of the next cursor or address; "header" is Link.
	Next string `yaml:"next"`
	// Cursors is how many are remembered; default 10000.
	Cursors int `yaml:"cursors"`
}

// totalFile is how the number of all records is found: in the list's answer at
// Result, or by a call of its own.
type totalFile struct {
	requestFile
	Result string `yaml:"result"`
}
