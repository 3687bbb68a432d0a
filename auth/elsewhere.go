package auth

import (
	"context"
	"errors"
	"time"
)

// errPasswordsElsewhere says that passwords are another program's.
var errPasswordsElsewhere = errors.New("auth: passwords are kept, and changed, elsewhere")

// Elsewhere is the part of Accounts that an administration lacks whose passwords
// another program keeps; it embeds it. Where tells people in words, or by an
// address, where a forgotten one is changed; "" where nobody has said so.
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
