package sheet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// User makes a user from the answer of a service. username is the requested one. If kept is true, client is
// the text that identifies the user's client, and u.Client has no number yet. Errors do not show values,
// which may be secret.
func (s *Service) User(ctx context.Context, found JSON, username string, kept bool) (u auth.User, client string, err error) {
	var facts [FactBlocked + 1]mapping.Value
	whole := map[int]int64{}
	for i, of := range factFields(kept) {
		isWide := i == FactID || i == FactClientID
		if isWide { // the number may be wider than an int4, or a text
			of = mapping.Field{Name: of.Name, Type: mapping.Varchar}
		}
		if facts[i], _, err = s.Facts[i].Value(ctx, &of, found); err != nil {
			return u, "", fmt.Errorf("accounts: %s cannot be read", of.Name)
		}
		if !isWide {
			continue
		}
		text := strings.TrimSpace(facts[i].Text())
		if facts[i].Kind() == mapping.KindInt { // from a code list, or a constant
			text = facts[i].String()
		}
		if i == FactClientID && kept {
			client = text
		} else if whole[i], err = strconv.ParseInt(cmp.Or(text, "0"), 10, 64); err != nil {
			return u, "", fmt.Errorf("accounts: %s is no whole number", of.Name)
		}
	}
	u = auth.User{
		ID: whole[FactID], Username: facts[FactUsername].Text(), Email: facts[FactEmail].Text(),
		External: facts[FactExternal].Int() != 0, Blocked: facts[FactBlocked].Int() != 0,
		Client: auth.Client{ID: whole[FactClientID], Name: facts[FactClientName].Text()},
	}
	isNamed := strings.TrimSpace(u.Username) != ""
	if !isNamed && !s.Facts[FactUsername].Read.IsZero() {
		return u, "", errors.New("accounts: username is missing")
	}
	if !isNamed {
		u.Username = username
	}
	if u.Client.ID < 1 && client == "" {
		// A user without a client must not work on the records of any.
		return u, "", errors.New("accounts: client_id is missing")
	}
	return u, client, nil
}
