package auth

import "fmt"

// PasswordsElsewhere is implemented by Accounts whose passwords another program stores. Resets
// then mail users where to change a forgotten password, instead of a link; which users may ask,
// and how often, stays the same. Resets never call SetPassword, KeepReset, FindReset and Redeem.
type PasswordsElsewhere interface {
	// ForgotPassword returns where users change a forgotten password, as an address or in a
	// few words, which the mail puts on a line of its own; "" if it is not known.
	ForgotPassword() string
}

// Both texts are in two languages and ASCII only, like resetText.
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
