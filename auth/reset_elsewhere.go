package auth

import "fmt"

// PasswordsElsewhere is implemented by Accounts whose passwords belong to another program
// and cannot be written. Resets then mail where a forgotten password is changed, instead
// of a link, to the same users within the same limits, and never call SetPassword,
// KeepReset, FindReset and Redeem.
type PasswordsElsewhere interface {
	// ForgotPassword returns that place, as an address or in a few words, for a line of
	// its own; "" if it is not known.
	ForgotPassword() string
}

// Like resetText in both languages and within ASCII.
const (
	elsewhereText = `Beste %[1]s,

Uw wachtwoord wordt in een ander programma beheerd. Daar stelt u een nieuw
wachtwoord in:

%[2]s

Heeft u hier niet om gevraagd, dan hoeft u niets te doen: uw wachtwoord blijft
hetzelfde.

--

Dear %[1]s,

Your password is kept by another program. That is where to set a new one:

%[2]s

If you did not ask for this, there is nothing to do: your password stays as it
is.
`
	nowhereText = `Beste %[1]s,

Uw wachtwoord wordt in een ander programma beheerd. Vraag de beheerder daarvan
om een nieuw wachtwoord.

Heeft u hier niet om gevraagd, dan hoeft u niets te doen: uw wachtwoord blijft
hetzelfde.

--

Dear %[1]s,

Your password is kept by another program. Ask whoever manages that for a new
one.

If you did not ask for this, there is nothing to do: your password stays as it
is.
`
)

// elsewhereLetter returns the mail that says where a new password is set.
func elsewhereLetter(user User, where string) Mail {
	m := Mail{To: user.Email, Subject: "Wachtwoord vergeten / Forgotten password"}
	if where == "" {
		m.Text = fmt.Sprintf(nowhereText, user.Username)
	} else {
		m.Text = fmt.Sprintf(elsewhereText, user.Username, where)
	}
	return m
}
