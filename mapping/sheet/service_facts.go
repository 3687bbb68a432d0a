package sheet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// UserFacts are the facts of one user.
type UserFacts struct {
	ID                int64
	Username, Email   string
	ClientID          int64
	ClientName        string
	External, Blocked bool
}

// User makes facts of a user whom a service answered. username is the one that was asked for.
// client is what identifies its client, whose number is not known yet where clients are kept. No
// error shows a value, which may be secret.
func (s *Service) User(ctx context.Context, found any, username string, kept bool) (u UserFacts, client string, err error) {
	u.Username = username
	for i, of := range factFields(kept) {
		f := &s.Facts[i]
		if i == FactPassword {
			continue
		}
		if i == FactID || i == FactClientID { // wider than an int4, or a text
			of = mapping.Field{Name: of.Name, Type: mapping.Varchar}
		}
		v, _, err := f.Value(ctx, &of, found)
		if err != nil {
			return u, "", fmt.Errorf("accounts: %s cannot be read", of.Name)
		}
		text := v.Text()
		if v.Kind() == mapping.KindInt { // of a code list, or a constant
			text = v.String()
		}
		switch text = strings.TrimSpace(text); {
		case i == FactClientID && kept:
			client = text
		case i == FactID || i == FactClientID:
			n, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 64)
			if err != nil {
				return u, "", fmt.Errorf("accounts: %s is no whole number", of.Name)
			}
			if i == FactID {
				u.ID = n
			} else {
				u.ClientID = n
			}
		case i == FactUsername && !f.Read.IsZero() && text == "":
			return u, "", errors.New("accounts: username is missing")
		case i == FactUsername && text != "":
			u.Username = v.Text()
		case i == FactEmail:
			u.Email = v.Text()
		case i == FactClientName:
			u.ClientName = v.Text()
		case i == FactExternal:
			u.External = v.Int() != 0
		case i == FactBlocked:
			u.Blocked = v.Int() != 0
		}
	}
	if u.ClientID < 1 && client == "" {
		// The user of no client must not work on the records of any.
		return u, "", errors.New("accounts: client_id is missing")
	}
	return u, client, nil
}
