package sheet

import (
	"frontdesk/config"
	"frontdesk/mapping"
)

// The decoder, the JSON Schemas and the documentation come from the structs of these files: the
// comment of a field is its description, a `schema:"…"` tag says what the type cannot.

// headFile is what all sheets have.
type headFile struct {
	// Format is the version of this format: 2.
	Format int `yaml:"format" schema:"required: 2, the version of this format; range=2..2: 2, the version of this format"`
	// TimeZone is the zone of dates and times that name none, in every resource
	// and field that does not say its own; default Europe/Amsterdam.
	TimeZone config.Zone `yaml:"time_zone"`
	// Keep is the gateway's own small database for what the existing system has
	// no place for: the IDs given out for foreign keys, and answers under
	// idempotency keys; of a service also its copy. A SQLite file, seen from the
	// sheet's folder, or postgres://…. It is part of the backup: IDs that were given
	// out are in it alone.
	Keep string `yaml:"keep"`
	// Rules tells who enforces the business rules: gateway (default), or backend
	// when the existing system enforces its own.
	Rules string `yaml:"rules" schema:"enum=gateway|backend"`
	// WithoutRules are rules that are not enforced because the system lacks the
	// fields that they work with.
	WithoutRules []string `yaml:"without_rules"`
	// Codes are code lists that several fields share, by name.
	Codes map[string]codesFile `yaml:"codes"`
	// Client is the column, or path, that tells whose record it is, or {read: …}, in every
	// resource that does not say so itself.
	Client spotFile `yaml:"client"`
}

// usersFile is what accounts of all systems have.
type usersFile struct {
	// Users are a fixed list, in the sheet.
	Users []userFile `yaml:"users"`
	// Clients is kept where what identifies a client, at client_id and at every client of the
	// sheet, is a text, for which a number is given out and kept. Default: it is a number.
	Clients string `yaml:"clients" schema:"enum=kept"`
	// ForgotPassword is where users change a forgotten password, since
	// frontdesk cannot write it: put into the mail in place of a reset link.
	ForgotPassword string `yaml:"forgot_password" schema:"format=https"`
}

// userFile is a user of the fixed list.
type userFile struct {
	// Username is what the user logs in with.
	Username string `yaml:"username" schema:"required: a name to log in with; pattern=.: a name to log in with; format=plain"`
	// PasswordHash is argon2id, as `frontdesk user hash` prints it.
	PasswordHash config.Secret `yaml:"password_hash" schema:"required: argon2id, as frontdesk user hash prints it; format=argon2id"`
	// Email is where mail to the user goes.
	Email string `yaml:"email"`
	// External users have a login, but not for this interface.
	External bool `yaml:"external"`
	// Blocked users cannot log in.
	Blocked bool `yaml:"blocked"`
	// Client is whose records the user works on.
	Client clientFile `yaml:"client" schema:"required"`
}

// clientFile is a client: a customer of the vendor.
type clientFile struct {
	// ID is the client's number; its text where clients are kept.
	ID string `yaml:"id" schema:"required"`
	// Name is what it is called, in logs and answers.
	Name string `yaml:"name" schema:"required; format=plain"`
}

// factsFile is where the facts of a user are.
type factsFile[F any] struct {
	// ID is the user's number.
	ID F `yaml:"id"`
	// Username is the name that the user logs in with.
	Username F `yaml:"username"`
	// Email is where mail to the user goes.
	Email F `yaml:"email"`
	// ClientID tells the client whose records the user works on.
	ClientID F `yaml:"client_id"`
	// ClientName is what that client is called.
	ClientName F `yaml:"client_name"`
	// External is 1 for a user who has a login, but not for this interface.
	External F `yaml:"external"`
	// Blocked is 1 for a user who cannot log in.
	Blocked F `yaml:"blocked"`
}

// all are the facts, from FactID on.
func (f factsFile[F]) all(password F) []F {
	return []F{f.ID, f.Username, password, f.Email, f.ClientID, f.ClientName, f.External, f.Blocked}
}

// factFile is what the facts of a user have, whatever the system.
type factFile struct {
	// Read is SQL, or jq, of its value.
	Read textFile `yaml:"read"`
	// Codes is a code list, or the name of a shared one.
	Codes codesRefFile `yaml:"codes"`
	// Constant is the value for every user.
	Constant scalarFile `yaml:"constant"`
}

// ownerFile is what resources of all systems have.
type ownerFile struct {
	// Client is the column, or path, that tells whose record it is; {read: …}; or
	// {through: FIELD}, the field that refers to the record whose client it is; "" for
	// none. Default: the sheet's client.
	Client whoseFile `yaml:"client"`
	// Shared says that all clients see and change the same records, though they
	// require a reference to a record of a client.
	Shared bool `yaml:"shared"`
	// SystemClient is the value of client that marks records of all clients.
	SystemClient string `yaml:"system_client"`
	// Version is the column, or path, that changes with every change, or {read: …}; without
	// one the whole record is compared.
	Version spotFile `yaml:"version"`
	// TimeZone is the zone of dates and times that name none, in every field
	// that does not say its own. Default: the sheet's time_zone.
	TimeZone config.Zone `yaml:"time_zone"`
	// ListRequires replaces the query parameters that lists ask for.
	ListRequires *[]string `yaml:"list_requires"`
	// Operations tells which there are.
	Operations operationsFile `yaml:"operations"`
}

// operationsFile tells which operations there are.
type operationsFile struct {
	// Only are the operations that there are. Default: all; of a service those that have a
	// path: a list is one where there is a walk, or where the records stand within others.
	Only []string `yaml:"only" schema:"items=get|list|create|update|delete"`
}

// conversionFile is how the system has a value, and what clients are promised of it. Absent, null
// and empty stay three things, unless it says otherwise.
type conversionFile struct {
	// Codes is a code list, the system's value before the interface's, or the name of a
	// shared one. Of several for one value the first is written. With column, or path.
	Codes codesRefFile `yaml:"codes"`
	// Unknown says what a code that is not in the list becomes: fail (default), or null.
	Unknown string `yaml:"unknown" schema:"enum=fail|null"`
	// Type is how a moment is kept where the type in the database does not say, or where a
	// service has no ISO 8601: date is a day, datetime has no zone, timestamp has one, epoch
	// counts seconds.
	Type string `yaml:"type" schema:"enum=date|datetime|timestamp|epoch|epoch_millis"`
	// TimeZone is the zone of moments that name none. Default: the resource's time_zone.
	TimeZone config.Zone `yaml:"time_zone"`
	// Zero are stored values that mean null: "00000000", "0". The first is what null is
	// written as. With column, or path.
	Zero names `yaml:"zero"`
	// Empty is null where an empty text means null, which a service is sent for null; default
	// empty. With column, or path.
	Empty string `yaml:"empty" schema:"enum=empty|null"`
	// Constant is the value of every record, as clients see it; null for none.
	Constant scalarFile `yaml:"constant"`
	// Default is what a new record gets where none is supplied.
	Default scalarFile `yaml:"default"`
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

// meaning is what an error of the system means.
type meaning struct {
	// Reason is a reason of the error catalogue, as docs/interface.md lists it.
	Reason mapping.Reason `yaml:"reason" schema:"required"`
	// Field is the field that it is about; RESOURCE.FIELD where it is of another
	// record, such as the order of a line, and then value says where its value is.
	Field string `yaml:"field"`
	// Fields translates what is found at field_from to fields; without, it is the
	// field at the place of that name.
	Fields map[string]string `yaml:"fields"`
	// At is the resource that the record is in use at, of reason in_use, or a word for
	// what is none.
	At string `yaml:"at"`
	// On narrows it to resources and operations: order, order.create.
	On []string `yaml:"on"`

	row *mapping.Entry // of the reason; its words are those of the scope
}
