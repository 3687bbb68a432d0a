package auth

// Cause says in a word why a caller was not let in. It is for operators: clients get the
// same answer for all causes. docs/causes.md explains each.
type Cause string

// Why a token opens nothing.
const (
	CauseNone        Cause = "none"      // there is no token
	CauseMalformed   Cause = "malformed" // it has not the form of one
	CauseUnknown     Cause = "unknown"   // nothing is known, or remembered, of it
	CauseLoggedOut   Cause = "logged_out"
	CauseExpired     Cause = "expired"
	CauseNewPassword Cause = "new_password"
	CauseUserBlocked Cause = "user_blocked" // of a login too
	CauseKeyRevoked  Cause = "key_revoked"  // the api_key was removed, or rotated out
	CauseKeyExpired  Cause = "key_expired"  // of a login too
	CauseEnded       Cause = "ended"        // by an operator, which keeps nobody from a new login
)

// Why a login is refused.
const (
	CauseKeyUnknown    Cause = "key_unknown"
	CauseKeyMalformed  Cause = "key_malformed"
	CauseUnknownUser   Cause = "unknown_user"
	CauseWrongPassword Cause = "wrong_password"
	CauseUserUnusable  Cause = "user_unusable" // what is stored of the user cannot be read
)

// What of a caller keeps it from using an api_key.
const (
	CauseAddress     Cause = "address"
	CauseCertificate Cause = "certificate"
)

// Ended is ErrNoSession with what is known of a session that has ended, for as long as
// Remembered after its end.
type Ended struct {
	KeyName string // of its api_key
	Client  string
	Why     Cause
}

func (e *Ended) Error() string { return ErrNoSession.Error() + ": " + string(e.Why) }

// Unwrap makes it ErrNoSession.
func (e *Ended) Unwrap() error { return ErrNoSession }

// Refused is ErrCredentials with the user that they belong to, if known, and the cause.
type Refused struct {
	Why    Cause  // "" where the credentials are right, and the api_key is not
	Client Client // of the user; the zero Client where there is no such user
}

func (r *Refused) Error() string { return ErrCredentials.Error() + ": " + string(r.Why) }

// Unwrap makes it ErrCredentials.
func (r *Refused) Unwrap() error { return ErrCredentials }
