package auth

import (
	"fmt"
	"time"

	"github.com/patrickmn/go-cache"
)

// resetText is in both languages of the interface: its users are Dutch, its
// integrators need not be. It stays within ASCII, so that the link survives in
// the raw mail as it is.
const resetText = `Beste %[1]s,

Via deze link stelt u een nieuw wachtwoord in:

%[2]s

De link werkt maar 1 keer en is 1 uur geldig. Heeft u hier niet om gevraagd,
dan hoeft u niets te doen: uw wachtwoord blijft hetzelfde.

--

Dear %[1]s,

Follow this link to set a new password:

%[2]s

The link works once and is valid for one hour. If you did not ask for it,
there is nothing to do: your password stays as it is.
`

// letter returns the mail with the link. The token needs no escaping: it is made of
// letters, digits, - and _.
func (r *Resets) letter(user User, token string) Mail {
	link := r.config.Base + "/authenticate/resetpassword?reset=" + token
	return Mail{
		To:      user.Email,
		Subject: "Nieuw wachtwoord instellen / Set a new password",
		Text:    fmt.Sprintf(resetText, user.Username, link),
	}
}

// mailQuota bounds the mails to one user, so that nobody's mailbox can be filled
// through us. Not for concurrent use.
type mailQuota struct {
	most int
	sent *cache.Cache // by username and number, for as long as a mail counts
}

func newMailQuota(most int, window time.Duration) *mailQuota {
	return &mailQuota{most: most, sent: cache.New(window, 0)}
}

// free returns the place in which the next mail to a user counts; "" if all are taken.
func (q *mailQuota) free(username string) string {
	for n := range q.most {
		place := fmt.Sprintf("%d %s", n, username)
		if _, taken := q.sent.Get(place); !taken {
			return place
		}
	}
	return ""
}

func (q *mailQuota) spend(place string) {
	q.sent.DeleteExpired()
	q.sent.SetDefault(place, nil)
}
