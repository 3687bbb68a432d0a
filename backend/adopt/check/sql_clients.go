package check

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// usersOf counts the users of the sheet's table, and, by the rule of the finding, those who cannot log in
// or cannot use the interface.
func usersOf(ctx context.Context, s Database) (all int, wrong map[string]int, err error) {
	if s.Sheet().Accounts.Facts == nil {
		return 0, nil, nil
	}
	names, wrong := map[string]int{}, map[string]int{}
	err = s.EachUser(ctx, func(u legacy.UserSeen) {
		all++
		switch {
		case u.Unusable:
			wrong["accounts.unusable"]++
		case u.Blocked || u.External:
		case u.Hashless:
			wrong["accounts.hash"]++
		case u.Email == "":
			wrong["accounts.email"]++
		}
		if names[u.Username]++; names[u.Username] == 2 && u.Username != "" {
			wrong["accounts.twice"]++
		}
	})
	return all, wrong, err
}

// clientsOf are some existing clients: of the users, or else of the records.
func clientsOf(ctx context.Context, s Database, most int) (all []auth.Client, err error) {
	from := &s.Sheet().Accounts
	for _, u := range from.Users {
		found := u.User.Client
		if u.ClientKey != "" {
			if found.ID, err = s.ClientNumber(ctx, u.ClientKey); err != nil {
				return nil, err
			}
		}
		all = append(all, found)
	}
	if from.Table != "" && from.Facts != nil {
		read, _ := s.Accounts().FactOf(&from.Facts[sheet.FactClientID])
		if all, err = clientsIn(ctx, s, all, read, legacy.Qualified(s.DB().Dialect(), s.Sheet().Source.SQL.Schema, from.Table), most); err != nil {
			return nil, err
		}
	}
	for _, r := range s.Sheet().Model.Resources {
		t := s.Mapped(r)
		if len(all) > 0 || t.SQL.Client == (sheet.Expr{}) {
			continue
		}
		if all, err = clientsIn(ctx, s, all, t.ExprOf(t.SQL.Client), t.From, most); err != nil {
			return nil, err
		}
	}
	return all[:min(len(all), most)], nil
}

// clientsIn adds the clients of the rows of a table.
func clientsIn(ctx context.Context, s Database, all []auth.Client, of sqlrecord.Expr, from string, most int) ([]auth.Client, error) {
	text, args := sqlrecord.NewWriter(s.DB().Dialect(), nil).Add("SELECT DISTINCT ").Expr(of).Add(" AS c FROM ", from, " ORDER BY 1 LIMIT ", strconv.Itoa(most)).Statement()
	var keys []string
	err := s.DB().Read(ctx, func(c sqlrecord.Conn) error {
		keys = nil
		return c.Query(ctx, text, []sqlrecord.Column{foreignText}, args, func(row []mapping.Value) error {
			keys = append(keys, row[0].Text())
			return nil
		})
	})
	for _, key := range keys {
		id, _ := strconv.ParseInt(strings.Trim(key, " "), 10, 64)
		if s.Sheet().ClientsKept && key != "" {
			if id, err = s.ClientNumber(ctx, key); err != nil {
				return nil, err
			}
		}
		if id > 0 && !slices.ContainsFunc(all, func(had auth.Client) bool { return had.ID == id }) {
			all = append(all, auth.Client{ID: id})
		}
	}
	return all, err
}
