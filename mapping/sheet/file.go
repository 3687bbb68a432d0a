package sheet

import (
	"time"

	"frontdesk/config"
)

// file is a mapping sheet as a vendor writes it. The decoder, the JSON Schema
// and the documentation all come from these structs: the comment of a field is
// its description, a `schema:"…"` tag says what the type cannot.
type file struct {
	// Format is the version of this format: 1.
	Format int `yaml:"format" schema:"required,enum=1"`
	// Source is the existing system: exactly one of its kinds.
	Source sourceFile `yaml:"source" schema:"required"`
	headFile
	// Client is the column, or path, that tells whose record it is, in every
	// resource that does not name its own.
	Client string `yaml:"client"`
	// Accounts tells who may log in.
	Accounts accountsFile `yaml:"accounts"`
	// Resources are the resources that the system has, by their name in the
	// interface. Those not named do not exist for clients.
	Resources map[string]resourceFile `yaml:"resources"`

	asSQL *sqlSheetFile // that of format 2, which this is made of
}

// headFile is what the sheets of all systems begin with.
type headFile struct {
	// TimeZone is the zone of dates and times that name none, in every resource
	// and field that does not say its own; default Europe/Amsterdam.
	TimeZone config.Zone `yaml:"time_zone"`
	// Keep is the gateway's own small database for what the existing system has
	// no place for: the IDs given out for foreign keys, and answers under
	// idempotency keys. A SQLite file, seen from the sheet's folder, or
	// postgres://…. It is part of the backup: IDs that were given out are in it
	// alone.
	Keep string `yaml:"keep"`
	// Rules tells who enforces the business rules: gateway (default), or backend
	// when the existing system enforces its own.
	Rules string `yaml:"rules" schema:"enum=gateway|backend"`
	// WithoutRules are rules that are not enforced because the system lacks the
	// fields that they work with.
	WithoutRules []string `yaml:"without_rules"`
	// Changes tells how it is known which records have changed, in every resource
	// that does not say so itself; default none.
	Changes changesFile `yaml:"changes"`
	// Codes are code lists that several fields share, by name.
	Codes map[string]codesFile `yaml:"codes"`
	// Errors translate errors of the system; the first that fits counts.
	Errors []errorFile `yaml:"errors"`
}

// sourceFile is where the records are.
type sourceFile struct {
	// HTTP is an existing HTTP service with JSON or XML.
	HTTP *httpFile `yaml:"http"`

	sql *sqlFile // of format 2
}

// sqlFile is an existing SQL database.
type sqlFile struct {
	// Engine is the kind of database.
	Engine string `yaml:"engine" schema:"required,enum=postgres|mariadb|mysql|sqlite"`
	// DSN is how the engine's Go driver is told where the database is.
	DSN config.Secret `yaml:"dsn"`
	// DSNFile is a file that holds the DSN, in place of dsn.
	DSNFile string `yaml:"dsn_file"`
	// Schema is put before table names that name none.
	Schema string `yaml:"schema"`
	// Connections is how many are open at most; default 16.
	Connections int `yaml:"connections"`
	// Session are statements run on every new connection, such as SET NAMES.
	Session []string `yaml:"session"`
	// Idempotency is a table that the vendor made for answers under idempotency
	// keys; without one they are in the id store (keep).
	Idempotency string `yaml:"idempotency"`
}

// httpFile is an existing HTTP service.
type httpFile struct {
	// URL is the address that paths of operations are put after.
	URL string `yaml:"url" schema:"required"`
	// Format is that of bodies: json (default) or xml.
	Format string `yaml:"format" schema:"enum=json|xml"`
	// Timeout is of one call; default 5s, never more than backend.timeout.
	Timeout time.Duration `yaml:"timeout"`
	// Connections is how many are open at most; default 64. fresh gives every call
	// that does not say otherwise a connection of its own.
	Connections connectionsFile `yaml:"connections"`
	// Parallel is how many records of one /bulk are written at the same time; default 1.
	Parallel int `yaml:"parallel"`
	// MaxAnswer is the largest answer read; default 16MiB.
	MaxAnswer config.Size `yaml:"max_answer"`
	// CAFile holds further authorities to trust, PEM.
	CAFile string `yaml:"ca_file"`
	// Headers are sent with every call; values are templates.
	Headers pairs `yaml:"headers"`
	// LogOn gets the token that calls are made with.
	LogOn *logOnFile `yaml:"log_on"`
	// Envelope is a template around every XML body; {body} is the operation's.
	Envelope string `yaml:"envelope"`
	// Retries is how often a read is tried again after a failure; default 1.
	Retries *int `yaml:"retries"`
	// Expressions is how the service's own language for filters writes values.
	Expressions expressionsFile `yaml:"expressions"`
	// Secrets are values for templates, by name: {secret.NAME}. A value is
	// best given as ${VARIABLE}.
	Secrets map[string]config.Secret `yaml:"secrets"`
}

// expressionsFile is how values stand in the expressions of a service, such as a
// filter.
type expressionsFile struct {
	// Quotes is how a value is written between quotes: doubled (quotes within are
	// doubled: OData), backslash (a backslash before quotes and backslashes: RSQL,
	// JQL), pocketbase, or strict (a value with quotes or a backslash is not sent).
	Quotes string `yaml:"quotes" schema:"enum=doubled|backslash|pocketbase|strict"`
	// Wildcards are characters that the service takes for patterns, such as *%: a
	// filter by a text with one of them is not sent, and judged here.
	Wildcards string `yaml:"wildcards"`
}

// logOnFile is a log-on before other calls.
type logOnFile struct {
	// Request is the call that logs on. Its templates know {secret.NAME}, and
	// {client.id} and {client.name} where every client has a token of its own.
	Request requestFile `yaml:"request" schema:"required"`
	// AccountsClient is {client.name} of the log-on for calls of accounts, which
	// are of no client yet, where every client has a token of its own.
	AccountsClient string `yaml:"accounts_client"`
	// Token is the path of the token in the answer.
	Token string `yaml:"token" schema:"required"`
	// ExpiresIn is the path of its lifetime in seconds; else lifetime holds.
	ExpiresIn string `yaml:"expires_in"`
	// Lifetime is how long a token is used; default 15m.
	Lifetime time.Duration `yaml:"lifetime"`
	// Headers are sent with every other call; {token} is the token.
	Headers pairs `yaml:"headers"`
	// RenewOn recognises an answer that says the token has expired; default
	// status 401.
	RenewOn matchFile `yaml:"renew_on"`
}

// errorFile translates an error of the system.
type errorFile struct {
	// When recognises the error.
	When matchFile `yaml:"when" schema:"required"`
	// Reason is a reason of the error catalogue, as docs/interface.md lists it.
	Reason string `yaml:"reason" schema:"required"`
	// Field is the field that it is about; RESOURCE.FIELD where it is of another
	// record, such as the order of a line, and then value says where its value is.
	Field string `yaml:"field"`
	// FieldFrom is where the system names the field: a path of the answer, or
	// constraint, or message with the first group of when.message. A path that ends
	// in * is the name of the member that * stands for.
	FieldFrom string `yaml:"field_from"`
	// Fields translates what is found at field_from to fields; without, it is the
	// field that is written to the place of that name.
	Fields map[string]string `yaml:"fields"`
	// Value is where the refused value is found: a path of the answer, or
	// message with the last group of when.message. Without it the value that
	// was sent is shown.
	Value string `yaml:"value"`
	// At is the resource that the record is in use at, of reason in_use, or a word for
	// what is none.
	At string `yaml:"at"`
	// On narrows it to resources and operations: order, order.create.
	On []string `yaml:"on"`
}

// matchFile recognises an answer of the system. All that is given must hold.
type matchFile struct {
	// SQLState is that of the error, 23505, or its class, 23.
	SQLState string `yaml:"sqlstate" schema:"pattern=^[0-9A-Z]{2}([0-9A-Z]{3})?$"`
	// Code is the vendor's number or code, 1062; of HTTP, the text at code_at.
	Code string `yaml:"code"`
	// CodeAt is the path of the code in an answer; * is any member of an object, or
	// any element: the same one in all paths of an entry.
	CodeAt string `yaml:"code_at"`
	// Constraint is the name of the constraint or index.
	Constraint string `yaml:"constraint"`
	// Status is the HTTP status, or 4xx, 5xx.
	Status string `yaml:"status" schema:"pattern=^[1-5]([0-9]{2}|xx)$"`
	// Message is a regular expression (RE2) over the message; of HTTP, over the
	// text at message_at, else over the body.
	Message string `yaml:"message"`
	// MessageAt is the path of the message in an answer.
	MessageAt string `yaml:"message_at"`
}
