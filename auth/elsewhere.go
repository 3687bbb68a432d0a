package auth

import (
	"context"
	"errors"
	"time"
)

// errPasswordsElsewhere says that another program stores the passwords.
var errPasswordsElsewhere = errors.New("auth: passwords are kept, and changed, elsewhere")

// Elsewhere implements the part of Accounts that an administration cannot support if
// another program stores its passwords; such an administration embeds it. Where is the
// place where users change a forgotten password, in words or as an address; "" if it is
// not known.
type Elsewhere struct{ Where string }

var _ PasswordsElsewhere = Elsewhere{}

// ForgotPassword implements PasswordsElsewhere.
func (e Elsewhere) ForgotPassword() string { return e.Where }

// SetPassword fails.
func (Elsewhere) SetPassword(context.Context, string, string) error { return errPasswordsElsewhere }

// KeepReset fails.
func (Elsewhere) KeepReset(context.Context, [32]byte, string, time.Time) error {
	return errPasswordsElsewhere
}

// FindReset finds none.
func (Elsewhere) FindReset(context.Context, [32]byte, time.Time) (User, error) {
	return User{}, ErrUnknownReset
}

// Redeem finds none.
func (Elsewhere) Redeem(context.Context, [32]byte, string, time.Time) error { return ErrUnknownReset }
