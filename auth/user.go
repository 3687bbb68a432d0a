package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

var (
	// ErrCredentials says that no user can log in with these credentials. It does not say
	// why, and the answer must not show it in any way.
	ErrCredentials = errors.New("auth: wrong credentials")

	// ErrUnknownUser says that there is no user of that name.
	ErrUnknownUser = errors.New("auth: unknown user")

	// ErrUnknownReset says that a reset token was never given out, was used
	// before or is no longer valid.
	ErrUnknownReset = errors.New("auth: unknown reset token")
)

// User is someone who may log in on behalf of a client.
type User struct {
	ID       int64
	Username string
	Email    string // "" where none is known; not judged
	Client   Client
	External bool // has a login, but not for this interface
	Blocked  bool

	// SessionsEnd is when the user's sessions were ended last, by a new password or a
	// block; zero for never, and if it is not stored. It always increases, so that older
	// sessions are recognised without comparing clocks.
	SessionsEnd time.Time `json:",omitzero"`
}

// UserEnd is the end of a user's sessions, as Accounts store it.
type UserEnd struct {
	Username string
	Blocked  bool      // still
	End      time.Time // as User.SessionsEnd; zero where a blocked user has none
	Why      Cause     // of End
}

// Credentials are what a user proves itself with.
type Credentials struct {
	Username string
	Password string
}

// Format hides credentials from every verb of fmt, so that no error text or log
// line shows them by accident.
func (Credentials) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "credentials(hidden)") }

// Verifier judges credentials. Backends implement it.
type Verifier interface {
	// Verify returns the user that these credentials belong to, with the name that was
	// asked for: see NameFolder. It returns ErrCredentials, as *Refused, for an unknown
	// user, a blocked user and a wrong password, and takes the same time for each:
	// Hasher.Verify with an empty hash takes that time if there is no user. Any other
	// error is a failure of the backend and is answered as one, never as "not
	// authorized". External users and those without an e-mail address are returned like
	// any other; Login judges them. Safe for concurrent use; it honours ctx.
	Verify(ctx context.Context, c Credentials) (User, error)
}

// NameFolder is a Verifier that may answer with the name anna if it was asked for ANNA.
// Any other Verifier must answer with exactly the name that it was asked for.
type NameFolder interface {
	FoldsNames() bool
}

// Accounts is a Verifier that also stores passwords and their resets. All its methods are
// safe for concurrent use and honour ctx.
type Accounts interface {
	Verifier

	// FindUser returns the user of that very name, blocked or not, or
	// ErrUnknownUser.
	FindUser(ctx context.Context, username string) (User, error)

	// SetPassword replaces the user's password hash, as Hasher.Hash encodes
	// it, and notes that the user's sessions end. ErrUnknownUser when there is no such user.
	SetPassword(ctx context.Context, username, encodedHash string) error

	// KeepReset keeps a reset of the user's password, found by the SHA-256 of
	// its token, until expires. Several may be open for one user.
	KeepReset(ctx context.Context, tokenHash [32]byte, username string, expires time.Time) error

	// FindReset returns the user of the reset, and does not use the reset up.
	// ErrUnknownReset when there is none, or when now is not before its expires.
	FindReset(ctx context.Context, tokenHash [32]byte, now time.Time) (User, error)

	// Redeem is SetPassword for the user of the reset. It also deletes that reset and all
	// other open resets of the user, so that a link works once and older mails become
	// useless. It does all of this or, with an error, nothing. Of two concurrent calls
	// one succeeds. ErrUnknownReset as for FindReset.
	Redeem(ctx context.Context, tokenHash [32]byte, encodedHash string, now time.Time) error
}
