package legacy

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Users counts those of the table of users, and of them those who cannot log in, or not use the
// interface.
type Users struct {
	All         int64
	Unusable    int64 // a fact cannot be read, or is missing
	Hashless    int64 // no hash of a form that the sheet lists
	Addressless int64 // no e-mail address
	Shared      int64 // login names that several users have
}

// ProveUsers looks at all users of the sheet's table.
func (s *Store) ProveUsers(ctx context.Context) (n Users, err error) {
	from := &s.sheet.Accounts
	if from.Table == "" || from.Facts == nil {
		return n, nil
	}
	w := sqlrecord.NewWriter(s.d, nil)
	columns := s.accountFacts(w)
	text, args := w.Add(" FROM ", qualified(s.d, s.source.Schema, from.Table)).Statement()
	names, failed := map[string]int{}, error(nil)
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		n, failed = Users{}, nil
		clear(names)
		return c.Query(ctx, text, columns, args, func(row []mapping.Value) error {
			n.All++
			a, err := s.accountOf(ctx, row, "")
			switch {
			case errors.Is(err, errFacts):
				n.Unusable++
			case err != nil:
				failed = err
			case a.Blocked || a.External:
			case !s.passwords.Knows(a.hash, a.salts):
				n.Hashless++
			case a.Email == "":
				n.Addressless++
			}
			names[a.Username]++
			return nil
		})
	})
	for name, users := range names {
		if users > 1 && name != "" {
			n.Shared++
		}
	}
	return n, errors.Join(err, failed)
}

// Clients are some of those that there are: of the users, or else of the records.
func (s *Store) Clients(ctx context.Context, most int) (all []auth.Client, err error) {
	from := &s.sheet.Accounts
	for _, u := range from.Users {
		found := u.User.Client
		if u.ClientKey != "" {
			if found.ID, err = s.clientNumber(ctx, u.ClientKey); err != nil {
				return nil, err
			}
		}
		all = append(all, found)
	}
	if from.Table != "" && from.Facts != nil {
		read, _ := s.view.Load().accounts.factOf(&from.Facts.SQL[sheet.FactClientID])
		if all, err = s.clientsIn(ctx, all, read, qualified(s.d, s.source.Schema, from.Table), most); err != nil {
			return nil, err
		}
	}
	for _, r := range s.sheet.Model.Resources {
		if t := s.view.Load().tables[r]; len(all) == 0 && t.SQL.Client != (sheet.Expr{}) {
			if all, err = s.clientsIn(ctx, all, t.exprOf(t.SQL.Client), t.from, most); err != nil {
				return nil, err
			}
		}
	}
	return all[:min(len(all), most)], nil
}

// clientsIn adds the clients of the rows of a table.
func (s *Store) clientsIn(ctx context.Context, all []auth.Client, of sqlrecord.Expr, from string, most int) ([]auth.Client, error) {
	text, args := sqlrecord.NewWriter(s.d, nil).Add("SELECT DISTINCT ").Expr(of).Add(" AS c FROM ", from, " ORDER BY 1 LIMIT ", strconv.Itoa(most)).Statement()
	var keys []string
	err := s.db.Read(ctx, func(c sqlrecord.Conn) error {
		keys = nil
		return c.Query(ctx, text, []sqlrecord.Column{foreignText}, args, func(row []mapping.Value) error {
			keys = append(keys, row[0].Text())
			return nil
		})
	})
	for _, key := range keys {
		client := auth.Client{ID: whole(mapping.TextValue(key))}
		if s.sheet.ClientsKept && key != "" {
			if client.ID, err = s.clientNumber(ctx, key); err != nil {
				return nil, err
			}
		}
		if client.ID > 0 && !slices.ContainsFunc(all, func(had auth.Client) bool { return had.ID == client.ID }) {
			all = append(all, client)
		}
	}
	return all, err
}
