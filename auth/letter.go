package auth

import (
	"fmt"
	"time"
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

// letter is the mail with the link. The token needs no escaping: it is made of
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
	most   int
	window time.Duration
	sent   map[string][]time.Time // by username, oldest first
}

func newMailQuota(most int, window time.Duration) *mailQuota {
	return &mailQuota{most: most, window: window, sent: make(map[string][]time.Time)}
}

func (q *mailQuota) spent(username string, now time.Time) bool {
	q.forget(now)
	return len(q.sent[username]) >= q.most
}

func (q *mailQuota) spend(username string, now time.Time) {
	q.sent[username] = append(q.sent[username], now)
}

// forget walks all of it: it holds no more than the mails of one window.
func (q *mailQuota) forget(now time.Time) {
	for username, times := range q.sent {
		for len(times) > 0 && !now.Before(times[0].Add(q.window)) {
			times = times[1:]
		}
		if len(times) == 0 {
			delete(q.sent, username)
		} else {
			q.sent[username] = times
		}
	}
}
