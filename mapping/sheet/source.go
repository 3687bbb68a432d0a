package sheet

import (
	"time"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/mapping"
)

// Source is the existing system; exactly one is set.
type Source struct {
	SQL  *SQL
	HTTP *HTTP
}

// SQL is an existing SQL database.
type SQL struct {
	Engine      string // postgres, mariadb, mysql or sqlite
	DSN         config.Secret
	Schema      string
	Connections int
	Session     []string
	Idempotency string // table; "" for none
}

// HTTP is an existing HTTP service.
type HTTP struct {
	URL         string // without a slash at its end
	XML         bool
	Timeout     time.Duration
	Connections int
	Parallel    int // writes of one request at the same time
	MaxAnswer   config.Size
	CAFile      string
	Headers     *Request // only its headers count; sent with every call
	LogOn       *LogOn
	Retries     int
	Secrets     map[string]config.Secret
}

// LogOn is a log-on before other calls.
type LogOn struct {
	Request *Request
	Token   string // path in the answer
	// PerClient tells that every client has a token of its own; AccountsClient is
	// then the name of that for calls of accounts.
	PerClient      bool
	AccountsClient string
	ExpiresIn      string // path of seconds; "" to use Lifetime
	Lifetime       time.Duration
	Headers        *Request // only its headers count; sent with every other call
	RenewOn        *Matcher
}

// Accounts says who may log in: by exactly one of Users, Table, Query and Verify.
type Accounts struct {
	Users          []User
	Table, Query   string
	Facts          *Facts // columns of Table or Query, or paths of Verify's answer
	Hash           []auth.ForeignHash
	Verify, Find   *Operation // with Request and Result alone
	Refused        *Matcher
	ForgotPassword string
	// FoldNames tells that the case of a username does not matter to the service.
	FoldNames bool
}

// User is one of a fixed list.
type User struct {
	auth.User
	PasswordHash config.Secret
	ClientKey    string // what identifies the client where Sheet.ClientsKept; Client.ID is 0 then
}

// Listed is the user of Users with exactly that name; nil for none.
func (a *Accounts) Listed(username string) *User {
	for i := range a.Users {
		if a.Users[i].Username == username {
			return &a.Users[i]
		}
	}
	return nil
}

// Facts are where the facts of a user are, and how they are converted.
type Facts struct {
	// Places are all that must be read; a row is aligned with it.
	Places []Place
	// SQL are how a database has the facts, from FactID on; nil unless the sheet is of format 2.
	SQL []Column

	places map[string]int
	fields []Field
}

// UserFacts are the facts of one user.
type UserFacts struct {
	ID                int64
	Username, Email   string
	ClientID          int64
	ClientName        string
	External, Blocked bool
}

// The positions of facts in Facts.SQL.
const (
	FactID = iota
	FactUsername
	FactPassword
	FactEmail
	FactClientID
	FactClientName
	FactExternal
	FactBlocked
)

// factFields are the facts as fields.
func factFields() []mapping.Field {
	return []mapping.Field{
		FactID:         {Name: "id", Type: mapping.Int4},
		FactUsername:   {Name: "username", Type: mapping.Varchar, Length: 255},
		FactPassword:   {Name: "password", Type: mapping.Varchar, Length: 1024},
		FactEmail:      {Name: "email", Type: mapping.Varchar, Length: 255},
		FactClientID:   {Name: "client_id", Type: mapping.Int4},
		FactClientName: {Name: "client_name", Type: mapping.Varchar, Length: 255},
		FactExternal:   {Name: "external", Type: mapping.Int4, OneOf: []string{"0", "1"}},
		FactBlocked:    {Name: "blocked", Type: mapping.Int4, OneOf: []string{"0", "1"}},
	}
}
