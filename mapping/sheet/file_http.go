package sheet

import (
	"time"

	"frontdesk/config"
)

// httpSheetFile is a mapping sheet in front of a service. What the service has is at a path of its
// JSON, or said in jq.
type httpSheetFile struct {
	headFile
	// Source is the existing system.
	Source httpSourceFile `yaml:"source" schema:"required"`
	// Copy is how the copy is kept that lists are answered from.
	Copy copyFile `yaml:"copy"`
	// Accounts tells who may log in.
	Accounts httpAccountsFile `yaml:"accounts"`
	// Errors translate errors of the service; the first that fits counts.
	Errors []httpErrorFile `yaml:"errors"`
	// Resources are the resources that the service has, by their name in the interface. Those
	// not named do not exist for clients.
	Resources map[string]httpResourceFile `yaml:"resources" schema:"required: the resources that the system has, such as contact"`
}

// httpSourceFile is where the records are.
type httpSourceFile struct {
	// HTTP is an existing HTTP service with JSON or XML.
	HTTP *Service `yaml:"http"`
}

// Service is an existing HTTP service.
type Service struct {
	// URL is the address that the paths of calls are put after.
	URL string `yaml:"url" schema:"required: the address of the service, such as https://dms.example.nl/api; format=service"`
	// Format is that of bodies and answers: json (default) or xml. XML is read as JSON:
	// attributes are -name, text beside them #text, repeated elements a list. A body is JsonML.
	Format string `yaml:"format" schema:"enum=json|xml"`
	// Timeout is of one call; default 5s, never more than backend.timeout.
	Timeout time.Duration `yaml:"timeout" schema:"above=0s"`
	// Connections is how many are open at most; default 64.
	Connections int `yaml:"connections" schema:"min=1"`
	// Parallel is how many records of one /bulk are written at the same time; default 1.
	Parallel int `yaml:"parallel" schema:"min=1; max=32: 32 at most"`
	// MaxAnswer is the largest answer read; default 16MiB.
	MaxAnswer config.Size `yaml:"max_answer" schema:"min=1KiB: at least 1KiB"`
	// CAFile holds further authorities to trust, PEM.
	CAFile string `yaml:"ca_file"`
	// Headers are sent with every call; Content-Type with those that have a body.
	Headers Parameters `yaml:"headers"`
	// LogOn gets the token that calls are made with.
	LogOn *ServiceLogOn `yaml:"log_on"`
	// Retries is how often a read is tried again after a failure; default 1.
	Retries int `yaml:"retries" schema:"range=0..5: 0 to 5"`
	// Secrets are values for templates and jq, by name: {secret.NAME}, .secret.NAME. A value is
	// best given as ${VARIABLE}.
	Secrets map[string]config.Secret `yaml:"secrets"`
	// Definitions are those that all jq of the sheet may use: def NAME: …;
	Definitions *JQ `yaml:"jq"`
	// Walk is what the walks of all resources have, where they do not say otherwise.
	Walk *Walk `yaml:"walk"`

	XML     bool
	Verify  *ServiceCall   // checks a password; nil if the sheet lists the users
	WhoAmI  *ServiceCall   // called with the token of Verify's answer; nil if Verify answers the user
	Token   Spot           // the token in Verify's answer
	Find    *ServiceCall   // finds a user by name; nil for none
	Refused Match          // the answer of Verify to wrong credentials
	Facts   []ServiceField // facts of users, from FactID on
	Errors  Translator[Answer]
	MaxAge  time.Duration // how old a copy may be while the service is away
}

// ServiceLogOn is a log-on before other calls.
type ServiceLogOn struct {
	// Request is the call that logs on. It knows secret, and client where every client has a
	// token of its own.
	Request call `yaml:"request" schema:"required"`
	// AccountsClient is client.name of the log-on for calls of accounts, which are of no client
	// yet, where every client has a token of its own.
	AccountsClient string `yaml:"accounts_client"`
	// Token is where the answer has the token.
	Token Spot `yaml:"token" schema:"required"`
	// ExpiresIn is where it has the token's lifetime in seconds; else lifetime holds.
	ExpiresIn Spot `yaml:"expires_in"`
	// Lifetime is how long a token is used; default 15m.
	Lifetime time.Duration `yaml:"lifetime" schema:"above=0s"`
	// Headers are sent with every other call; they know token.
	Headers Parameters `yaml:"headers"`
	// RenewOn recognises an answer that says the token has expired; default status 401.
	RenewOn Match `yaml:"renew_on"`

	Call      ServiceCall // Request
	PerClient bool        // every client has a token of its own
}

// copyFile is how the copy is kept.
type copyFile struct {
	// MaxAge is how old lists may be while the service is away; default 15m.
	MaxAge time.Duration `yaml:"max_age" schema:"above=0s"`
	// Every is the time from the end of a walk to the next one, of resources that do not say
	// their own.
	Every time.Duration `yaml:"every" schema:"above=0s"`
}

// call is one call of the service. Path, and the values of query and headers, are texts with
// placeholders, {client.id}, or of query and headers {jq: JQ}; a placeholder is a path into the
// same object that jq sees. A parameter whose placeholder, or jq, has no value is left out; a list
// is sent as several.
type call struct {
	// Method of the call; default GET, of create POST, of update PATCH, of delete DELETE.
	Method string `yaml:"method" schema:"enum=GET|POST|PUT|PATCH|DELETE"`
	// Path is put after the address of the service.
	Path Text `yaml:"path"`
	// Query are the query parameters.
	Query Parameters `yaml:"query"`
	// Headers are sent besides those of every call.
	Headers Parameters `yaml:"headers"`
	// Body is jq that yields the body; default .record of create and update, else none.
	Body *JQ `yaml:"body"`
	// Form tells that the members of the body are sent as a form.
	Form bool `yaml:"form"`
	// Timeout of the call; default that of the service.
	Timeout time.Duration `yaml:"timeout" schema:"above=0s"`
}

// ServiceCall is a call whose answer is looked into. Of the keys below result the sections of
// operations have those that are of them.
type ServiceCall struct {
	call
	// Result is where the answer has the record, the list or the user; default the answer itself.
	Result Spot `yaml:"result"`

	Nothing  bool   // the answer does not have the record, which is read again
	Whole    bool   // an update sends the whole record with the changes in it; else only the changes
	Key      []Spot // for create: the key in the answer, if that does not have the record
	NotFound Match  // recognises the answer that there is no such record
}

// Walk lists all records of a resource, page by page. It knows client, page, secret and token.
type Walk struct {
	ServiceCall
	// Paging is how the walk goes from page to page; default none, all at once.
	Paging Pages `yaml:"paging"`
	// Since asks for what has changed, where the service can tell. It has the paging of the walk.
	Since *Since `yaml:"since"`
	// Every is the time from the end of a walk to the next one: how late a change is seen without
	// since, and a deletion with it. Default that of copy.
	Every time.Duration `yaml:"every" schema:"above=0s"`
	// Pause is the least time between two pages.
	Pause time.Duration `yaml:"pause" schema:"above=0s"`
}

// Pages is how a walk is paged.
type Pages struct {
	// Style is page ({page.number}), offset ({page.offset}), cursor ({page.cursor}, found at
	// next, or {page.after}, the key of the last record), link (the address at next), header
	// (that of a Link header), or none.
	Style string `yaml:"style" schema:"required; enum=page|offset|cursor|link|header|none"`
	// Size is {page.limit}; default 100.
	Size int `yaml:"size" schema:"min=1"`
	// First is the number of the first page; default 1.
	First int `yaml:"first"`
	// Next is where an answer has the next cursor, or address.
	Next Spot `yaml:"next"`
	// Total is where it has the number of all records.
	Total Spot `yaml:"total"`
	// More is where it says whether there is another page.
	More Spot `yaml:"more"`
}

// Since asks for what has changed: as the walk does, but for what it says otherwise. It knows
// since.
type Since struct {
	ServiceCall
	// Cursor is where an answer has the next value of since. Without it since is the greatest
	// modified_at that was seen, less settle.
	Cursor Spot `yaml:"cursor"`
	// Settle is how long before it shows a change may be dated; default 1m.
	Settle time.Duration `yaml:"settle" schema:"min=0s"`
	// Deleted is jq that holds for an entry whose record is no more.
	Deleted *JQ `yaml:"deleted"`
}

// Match recognises an answer of the service: all that is given must hold. The zero Match fits none.
type Match struct {
	// Status is the HTTP status, or 4xx, 5xx.
	Status string `yaml:"status" schema:"pattern=^[1-5]([0-9]{2}|xx)$: a status such as 409, or 4xx"`
	// JQ holds for the answer, {status, body}: it yields neither nothing, false nor null.
	JQ *JQ `yaml:"jq"`
}

// httpErrorFile translates an error of the service.
type httpErrorFile struct {
	// When recognises the error.
	When Match `yaml:"when" schema:"required"`
	meaning
	// FieldFrom is jq over the answer, {status, body}, that yields the service's names of fields.
	FieldFrom *JQ `yaml:"field_from"`
	// Value is jq over the answer that yields the refused value; without it the value that was
	// sent is shown.
	Value *JQ `yaml:"value"`
}

// httpAccountsFile tells who may log in: exactly one of users and verify.
type httpAccountsFile struct {
	usersFile
	// Verify checks a password. It knows username, password, secret and token.
	Verify *ServiceCall `yaml:"verify"`
	// Token is where verify's answer has a token, by which who asks whose it is.
	Token Spot `yaml:"token"`
	// Who answers the user that the token is of. It knows token, username and secret.
	Who *ServiceCall `yaml:"who"`
	// Find asks for a user by name, without a password. It knows username, secret and token.
	Find *ServiceCall `yaml:"find"`
	// Refused recognises the answer to wrong credentials, whatever its status; default status
	// 401.
	Refused Match `yaml:"refused"`
	// UsernameCase reports whether the username of an answer must be the one asked for letter by
	// letter: exact (default), or ignore where ANNA is anna to the service. With verify only.
	UsernameCase string `yaml:"username_case" schema:"enum=exact|ignore"`
	// Result is where the user's facts are, within what the calls say is the user. Without
	// username nothing shows whose an answer is: it must be the one asked for.
	Result factsFile[httpFactFile] `yaml:"result"`
}

// httpFactFile is where a fact of a user is: exactly one of path, read and constant.
type httpFactFile struct {
	// Path is its path.
	Path Path `yaml:"path" schema:"short"`
	factFile
}
