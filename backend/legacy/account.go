package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// errFacts says that a user exists, but cannot be read completely.
var errFacts = errors.New("find user")

// account is a user with the password's hash.
type account struct {
	auth.User
	hash  string
	salts map[string]string
}

// Verify implements auth.Verifier.
func (s *Store) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	a, err := s.account(ctx, c.Username)
	why := auth.CauseWrongPassword
	switch {
	case errors.Is(err, errFacts):
		s.log.Warn("a user cannot log in", zap.Error(err)) // without the name, as below
		why = auth.CauseUserUnusable
	case errors.Is(err, auth.ErrUnknownUser):
		why = auth.CauseUnknownUser
	case err != nil:
		return auth.User{}, err
	case a.Blocked:
		why = auth.CauseUserBlocked
	}
	match, err := s.passwords.Verify(ctx, c.Password, a.hash, a.salts)
	if errors.Is(err, auth.ErrStoredHash) {
		// The answer must not reveal that the user exists. The log does not name him: people
		// type their password in place of a name.
		s.log.Warn("a user cannot log in", zap.Int64("client", a.Client.ID), zap.Int64("user", a.ID), zap.Error(err))
		return auth.User{}, &auth.Refused{Why: auth.CauseUserUnusable, Client: a.Client}
	}
	if err != nil {
		return auth.User{}, fmt.Errorf("verify password: %w", err)
	}
	if !match || a.Blocked {
		return auth.User{}, &auth.Refused{Why: why, Client: a.Client}
	}
	return a.User, nil
}

// FindUser implements auth.Accounts.
func (s *Store) FindUser(ctx context.Context, username string) (auth.User, error) {
	a, err := s.account(ctx, username)
	return a.User, err
}

// account finds a user. Names are compared byte by byte, even if the database ignores
// the case of letters.
func (s *Store) account(ctx context.Context, username string) (found account, err error) {
	from := s.sheet.Accounts
	if u := from.Listed(username); u != nil {
		found = account{hash: string(u.PasswordHash), User: u.User}
		if u.ClientKey != "" {
			found.Client.ID, err = s.ClientNumber(ctx, u.ClientKey)
		}
		return found, err
	}
	if from.Facts == nil || !sqlrecord.CanHold(username) || username == "" {
		return found, auth.ErrUnknownUser
	}
	var all [][]mapping.Value
	text, args, columns := s.accountText(username)
	err = sqlrecord.Reserved(s.db).Read(ctx, func(c sqlrecord.Conn) error {
		all = nil
		return c.Query(ctx, text, columns, args, func(row []mapping.Value) error {
			all = append(all, slices.Clone(row))
			return nil
		})
	})
	if lacksLetters(err, username) {
		return found, auth.ErrUnknownUser
	}
	if err != nil {
		return found, fmt.Errorf("find user: %w", err)
	}
	for _, row := range all {
		a, err := s.accountOf(ctx, row, username)
		switch {
		case err != nil:
			return account{}, err
		case a.Username != username, found.Username != "" && found.ID == a.ID && found.Client.ID == a.Client.ID: // a join may return a user several times
		case found.Username != "":
			return account{}, fmt.Errorf("%w: users %d and %d have one login name", errFacts, found.ID, a.ID)
		default:
			found = a
		}
	}
	if found.Username == "" {
		return account{}, auth.ErrUnknownUser
	}
	return found, nil
}

// accountOf makes a user of a row. A fact that is not mapped, or null, is its zero value.
func (s *Store) accountOf(ctx context.Context, row []mapping.Value, username string) (a account, err error) {
	for i, v := range row {
		if v.IsAbsent() { // the error does not quote the value, which may be secret
			return a, fmt.Errorf("%w: fact %d of accounts.columns has a value that is none of it", errFacts, i+1)
		}
	}
	text := func(i int) string { return strings.TrimRight(row[i].Text(), " ") }
	a = account{hash: text(sheet.FactPassword), salts: map[string]string{}, User: auth.User{
		ID: whole(row[sheet.FactID]), Username: text(sheet.FactUsername), Email: text(sheet.FactEmail), External: isYes(row[sheet.FactExternal]), Blocked: isYes(row[sheet.FactBlocked]),
		Client: auth.Client{ID: whole(row[sheet.FactClientID]), Name: text(sheet.FactClientName)},
	}}
	for i, name := range s.salts() {
		a.salts[name] = text(len(s.sheet.Accounts.Facts) + i)
	}
	switch how := s.sheet.Accounts.Facts; {
	case !isRead(&how[sheet.FactUsername]):
		a.Username = username
	case a.Username == "":
		return a, fmt.Errorf("%w: the username is missing", errFacts)
	}
	if key := text(sheet.FactClientID); s.sheet.ClientsKept && key != "" {
		a.Client.ID, err = s.ClientNumber(ctx, key)
	}
	if err == nil && a.Client.ID == 0 { // a user without a client must not work on anybody's records
		err = fmt.Errorf("%w: the client is missing, or is no number", errFacts)
	}
	return a, err
}

// whole is a whole number that may have been read as a text; 0 if it is none.
func whole(v mapping.Value) int64 {
	n, _ := strconv.ParseInt(strings.Trim(v.String(), " "), 10, 64)
	return n
}

// isYes reports whether a fact (is external, is blocked) holds: for every number but 0, and for true.
func isYes(v mapping.Value) bool { return whole(v) != 0 || truth(strings.Trim(v.String(), " ")) }

// salts are the columns of salts.
func (s *Store) salts() (names []string) {
	for _, h := range s.sheet.Accounts.Hash {
		if h.Salt != "" && !slices.Contains(names, h.Salt) {
			names = append(names, h.Salt)
		}
	}
	return names
}

func isRead(c *sheet.Column) bool { return len(c.Names) == 1 || c.Read != "" }

// FactOf is how a fact is read: as a text, because numbers of users and clients may be longer than an
// int4. Facts with a code list (is external, is blocked) are read as numbers.
func (b *Builder) FactOf(c *sheet.Column) (sqlrecord.Expr, sqlrecord.Column) {
	if len(c.Codes) > 0 {
		f := b.coded(&mapping.Field{Type: mapping.Int4}, c)
		return f.Read, f.As
	}
	return b.plainFact(c), foreignText
}

func (b *Builder) plainFact(c *sheet.Column) sqlrecord.Expr {
	switch {
	case len(c.Names) == 1:
		return sqlrecord.Plain(b.Dialect.Quote(c.Names[0]))
	case c.Read != "":
		return Parse("(" + c.Read + ")")
	case c.Constant.IsSet():
		return sqlrecord.Plain(b.Literal(c.Constant.String()))
	default:
		return sqlrecord.Plain("NULL")
	}
}

// accountText is the statement that finds a user by name: in a table, or in the result of the
// sheet's query.
func (s *Store) accountText(username string) (text string, args []mapping.Value, columns []sqlrecord.Column) {
	from := &s.sheet.Accounts
	b := s.view.Load().accounts
	w := sqlrecord.NewWriter(s.d, func(w *sqlrecord.Writer, _ string) { b.Put(w, sqlrecord.Texts, mapping.TextValue(username)) })
	columns = s.accountFacts(w)
	if from.Query != "" {
		text, args = w.Add(" FROM (").Expr(Parse(from.Query)).Add(") account").Statement()
		return text, args, columns
	}
	w.Add(" FROM ", Qualified(s.d, s.source.Schema, from.Table), " WHERE ")
	name := b.field(&mapping.Field{Type: mapping.Varchar}, &from.Facts[sheet.FactUsername])
	name.Compare(w, mapping.Equals, mapping.TextValue(username))
	text, args = w.Statement()
	return text, args, columns
}

// accountFacts appends SELECT with the facts of a user, and the salts.
func (s *Store) accountFacts(w *sqlrecord.Writer) (columns []sqlrecord.Column) {
	w.Add("SELECT ")
	for i := range s.sheet.Accounts.Facts {
		read, as := s.view.Load().accounts.FactOf(&s.sheet.Accounts.Facts[i])
		w.Add(comma(i)).Expr(read)
		columns = append(columns, as)
	}
	for _, salt := range s.salts() {
		w.Add(", ", s.d.Quote(salt))
		columns = append(columns, foreignText)
	}
	return columns
}
