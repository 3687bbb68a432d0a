package auth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wneessen/go-mail"
)

// Mail is one plain text mail to one address.
type Mail struct {
	To      string
	Subject string
	Text    string
}

// Mailer sends mail. Send returns once a mail server or a folder has the mail, or with an
// error; it honours ctx and is safe for concurrent use.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}

// letterhead is what every mail of a mailer has in common.
type letterhead struct {
	from   string
	clock  func() time.Time
	random io.Reader
}

// compose makes the message as it is sent. The library encodes headers and body
// and refuses addresses that would break out of theirs.
func (h letterhead) compose(m Mail) (*mail.Msg, error) {
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent(), mail.WithEncoding(encodingOf(m.Text)))
	if err := msg.From(h.from); err != nil {
		return nil, fmt.Errorf("auth: sender of mail: %w", err)
	}
	if err := msg.To(m.To); err != nil {
		return nil, fmt.Errorf("auth: recipient of mail: %w", err)
	}
	id, err := randomHex(h.random)
	if err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(strings.TrimSuffix(h.from, ">"), "@")
	// The library's own ID would name this host to the recipient.
	msg.SetMessageIDWithValue(id + "@" + domain)
	msg.SetDateWithValue(h.clock())
	msg.Subject(m.Subject)
	msg.SetBodyString(mail.TypeTextPlain, strings.ReplaceAll(m.Text, "\n", "\r\n"))
	return msg, nil
}

// JudgeSender returns why no mail can be sent from that address; nil if it can.
func JudgeSender(from string) error {
	_, err := letterhead{from: from, clock: time.Now, random: rand.Reader}.compose(Mail{To: from})
	return err
}

// encodingOf leaves plain text plain, so that links stay in one piece in a raw mail,
// such as an .eml file. RFC 5322 allows lines of 998. Not EncodingUSASCII, which
// announces 7bit and writes quoted-printable.
func encodingOf(text string) mail.Encoding {
	length := 0
	for i := range len(text) {
		length++
		if text[i] == '\n' {
			length = 0
		}
		if text[i] >= utf8.RuneSelf || length > 998 {
			return mail.EncodingQP
		}
	}
	return mail.NoEncoding
}

// randomHex returns 128 random bits as 32 hex digits.
func randomHex(random io.Reader) (string, error) {
	var id [16]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return "", fmt.Errorf("auth: random bits: %w", err)
	}
	return hex.EncodeToString(id[:]), nil
}
