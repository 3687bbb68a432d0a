package auth

// Cause says in a word why a caller was not let in. It is for operators: clients get the
// same answer for all causes. docs/causes.md explains each.
type Cause string

// Why a token opens nothing.
const (
	CauseNone        Cause = "none"      // there is no token
	CauseMalformed   Cause = "malformed" // the token is no UUID
	CauseUnknown     Cause = "unknown"   // the token was never issued, or is remembered no longer
	CauseLoggedOut   Cause = "logged_out"
	CauseExpired     Cause = "expired"
	CauseNewPassword Cause = "new_password"
	CauseUserBlocked Cause = "user_blocked" // also of a login
	CauseKeyRevoked  Cause = "key_revoked"  // the api_key was removed, or rotated out
	CauseKeyExpired  Cause = "key_expired"  // also of a login
	CauseEnded       Cause = "ended"        // an operator ended the session; the user may log in again
)

// Why a login is refused.
const (
	CauseKeyUnknown    Cause = "key_unknown"
	CauseKeyMalformed  Cause = "key_malformed"
	CauseUnknownUser   Cause = "unknown_user"
	CauseWrongPassword Cause = "wrong_password"
	CauseUserUnusable  Cause = "user_unusable" // the stored user cannot be read
)

// Why a caller may not use an api_key that exists.
const (
	CauseAddress     Cause = "address"
	CauseCertificate Cause = "certificate"
)

// Ended is the ErrNoSession of a session that ended not longer ago than Remembered.
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
	Why    Cause  // "" where the credentials are right, but the api_key is not
	Client Client // of the user; the zero Client where there is no such user
}

func (r *Refused) Error() string { return ErrCredentials.Error() + ": " + string(r.Why) }

// Unwrap makes it ErrCredentials.
func (r *Refused) Unwrap() error { return ErrCredentials }
