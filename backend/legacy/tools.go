package legacy

import (
	"context"
	"errors"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// What follows, and what else is exported of a Mapped, is for tools that examine the database.

// DB is the database.
func (s *Store) DB() sqlrecord.DB { return s.db }

// Schema is the database's schema at the last inspection.
func (s *Store) Schema() Schema { return s.view.Load().known }

// Refused is what the database refused of the sheet at the last inspection.
func (s *Store) Refused() []*Problem { return Problems(s.view.Load().refused) }

// Sheet is the sheet that the store was opened with.
func (s *Store) Sheet() *sheet.Sheet { return s.sheet }

// Mapped is a resource as statements refer to it, even if it is closed.
func (s *Store) Mapped(r *mapping.Resource) *Mapped { return s.view.Load().tables[r] }

// Accounts makes expressions over the table of users.
func (s *Store) Accounts() *Builder { return s.view.Load().accounts }

// Translated is a query with keys in place of kept IDs, and the key after which its page begins.
func (s *Store) Translated(ctx context.Context, t *Mapped, q backend.Query) (asked backend.Query, after []mapping.Value, err error) {
	asked, after, _, err = session{Store: s}.translated(ctx, t, q)
	return asked, after, err
}

// A UserSeen is a user of the table of users, as he would log in.
type UserSeen struct {
	auth.User
	Unusable bool // a fact cannot be read, or is missing
	Hashless bool // no hash of a form that the sheet lists
}

// EachUser calls each for all users of the sheet's table.
func (s *Store) EachUser(ctx context.Context, each func(UserSeen)) error {
	w := sqlrecord.NewWriter(s.d, nil)
	columns := s.accountFacts(w)
	text, args := w.Add(" FROM ", Qualified(s.d, s.source.Schema, s.sheet.Accounts.Table)).Statement()
	return s.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, text, columns, args, func(row []mapping.Value) error {
			a, err := s.accountOf(ctx, row, "")
			if err != nil && !errors.Is(err, errFacts) {
				return err
			}
			each(UserSeen{a.User, err != nil, err == nil && !s.passwords.Knows(a.hash, a.salts)})
			return nil
		})
	})
}

// Owner is the expression for the client of a row, and its sort; nil if rows have no client.
func (t *Mapped) Owner() (sqlrecord.Expr, sqlrecord.Sort) {
	at := t
	for at.parent != nil {
		at = at.parent
	}
	if at.SQL.Client == (sheet.Expr{}) || at != t && at.SQL.Client.Column == "" {
		return nil, at.clientSort
	}
	return t.clientExpr(), at.clientSort
}

// Parts are the parts of the key that a field refers to by kept IDs; nil if it holds none.
func (t *Mapped) Parts(f *mapping.Field) []sqlrecord.Field {
	for _, l := range t.links {
		if l.field == f {
			return t.Rows.Extra[l.at : l.at+l.names]
		}
	}
	return nil
}
