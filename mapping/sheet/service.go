package sheet

import (
	"strings"
	"time"

	"frontdesk/config"
	"frontdesk/mapping"
)

// Service is an existing HTTP service.
type Service struct {
	URL         string // without a slash at its end
	XML         bool   // bodies and answers
	Timeout     time.Duration
	Connections int
	Parallel    int // writes of one request at the same time
	MaxAnswer   config.Size
	CAFile      string
	Headers     []Named // of every call
	LogOn       *ServiceLogOn
	Retries     int
	Secrets     map[string]config.Secret // {secret.NAME}, .secret.NAME
	Verify      *ServiceCall             // of accounts; nil where users are listed in the sheet
	WhoAmI      *ServiceCall             // asked with the token that Verify answered; nil where Verify says who it is
	Token       Spot                     // of Verify's answer, for WhoAmI
	Find        *ServiceCall             // of accounts; nil for none
	Refused     Match                    // the answer of Verify to wrong credentials, whatever its status
	Facts       []ServiceField           // of users, from FactID on
	Errors      Translator[Answer]
	MaxAge      time.Duration // how old a copy may be while the service is away
}

// ServiceLogOn is a log-on before other calls.
type ServiceLogOn struct {
	Call  ServiceCall
	Token Spot
	// PerClient tells that every client has a token of its own; AccountsClient is
	// then the name of that for calls of accounts.
	PerClient      bool
	AccountsClient string
	ExpiresIn      Spot // seconds; zero to use Lifetime
	Lifetime       time.Duration
	Headers        []Named // of every other call; they know {token}
	RenewOn        Match
}

// ServiceResource is how a service has one resource.
type ServiceResource struct {
	// Walk lists all records; nil where the service does not list them: those that stand
	// within another resource's records, or that can be read one by one alone.
	Walk                        *Walk
	Get, Create, Update, Delete *ServiceCall   // nil where there is none
	Key                         []Spot         // its parts in a record
	Client                      Spot           // whose record it is; zero for none, or where Through of the Resource says it
	Version                     Spot           // changes with every change; zero to compare the record
	Select                      *JQ            // records for which it yields nothing, false or null are hidden; nil for none
	Fields                      []ServiceField // aligned with the model's fields
	// PerClient tells that a walk is of one client's records, and a key known for one client:
	// the call, or the log-on, names the client; or it is so of the records which these stand
	// within.
	PerClient bool
}

// Walk lists all records of a resource, page by page.
type Walk struct {
	ServiceCall
	Paging Pages
	// Since asks for what has changed since a moment or a cursor; nil where the service
	// cannot tell. It has the paging of the walk.
	Since *Since
	// Every is the time from the end of a walk to the next one, 0 for the default: how old a
	// list may be where there is no Since, how late deletions are seen where there is one.
	Every time.Duration
	Pause time.Duration // the least time between two pages
}

// Since asks for what has changed.
type Since struct {
	ServiceCall
	// Cursor is where an answer has the next value of {since}; zero where it is the greatest
	// modified_at that was seen, less Settle.
	Cursor Spot
	Settle time.Duration
	// Deleted tells of an entry that its record is no more; nil where the service does not.
	Deleted *JQ
}

// Pages is how a walk goes from page to page.
type Pages struct {
	Style string // page, offset, cursor, link, header or none
	Size  int    // {page.limit}
	First int    // number of the first page
	Next  Spot   // of style cursor and link; .page.after, the key of the last record, needs none
	Total Spot   // number of all records; zero for none
	More  Spot   // whether there is another page; zero for none
}

// ServiceCall is a call of a service.
type ServiceCall struct {
	Method  string
	Path    Text
	Query   []Named
	Headers []Named
	Body    *JQ  // yields the body, over what the call knows; nil for .record of writes, or none
	Form    bool // the body is a form
	// Result is where the record, or the list of them, is in the answer.
	Result Spot
	// Nothing tells that the answer says nothing of the record: it is read again.
	Nothing bool
	// Whole tells that an update sends the record as it was read, with the changes in it;
	// without, it sends the changes.
	Whole    bool
	Key      []Spot // of create: the key in the answer, where it is not within the record
	NotFound Match  // of the answer that there is no such record
	Timeout  time.Duration
}

// Named is a header or a parameter of the query: a text with placeholders, or jq. One whose
// placeholder, or jq, has no value is left out; a list is sent as several.
type Named struct {
	Name string
	Text Text // where JQ is nil
	JQ   *JQ
}

// Text is a text with placeholders. It is safe for concurrent use.
type Text []TextPart

// String is the text as a sheet has it.
func (t Text) String() string {
	var b strings.Builder
	for _, part := range t {
		if part.Path == nil {
			b.WriteString(part.Literal)
		} else {
			b.WriteString("{" + part.Path.String() + "}")
		}
	}
	return b.String()
}

// TextPart is a literal, or a placeholder: the path of a value that the call knows.
type TextPart struct {
	Literal string
	Path    Path
}

// Spot is where a value is found: at a path, or by jq over the record or answer. The zero
// Spot is nowhere.
type Spot struct {
	Path Path
	JQ   *JQ
}

// ServiceField is how a service has one field.
type ServiceField struct {
	Read Spot // nowhere for what it does not have, and for Constant
	// Path is where a write puts the value; nil where Write yields an object that is merged
	// into the record.
	Path Path
	// Write makes what is written of the value as clients see it, or of a reference's key; nil
	// for the value itself, as Kind and Codes have it.
	Write    *JQ
	Writable bool
	// Codes are the code list, in its order; of several for one value the first is written.
	Codes []ServiceCode
	Conversion
	// Elements is where the elements of an array stand within the record; zero where they are
	// records of their own.
	Elements Spot
}

// ServiceCode is a value that the service has for one that clients see: text, json.Number, a
// bool or nil.
type ServiceCode struct {
	Stored any
	Shown  mapping.Value
}

// Match recognises an answer: all that is set must hold. The zero Match fits none.
type Match struct {
	Status string // 404, 4xx; "" for any
	JQ     *JQ    // over {status, body}: neither nothing, false nor null; nil for any
}
