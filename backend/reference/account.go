package reference

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// ErrUsernameTaken says that another user, of any client, has the name.
var ErrUsernameTaken = errors.New("username is taken")

// ErrName says that a name has invisible characters: in a log or on a terminal, people
// would take it for another name.
var ErrName = errors.New("expected a name of characters that can be seen")

func judgeName(of, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a %s needs a name", of)
	case !mapping.IsPlain(name):
		return fmt.Errorf("name %q of a %s: %w", name, of, ErrName)
	default:
		return nil
	}
}

// NewUser is a user to be added.
type NewUser struct {
	Username string
	Password string
	Email    string // "" if none is known
	Client   string // the client's name; a new one is added
	External bool
}

// AddClient returns the client of that name, and adds it if there is none. It may fail
// with ErrName.
func (s *Store) AddClient(ctx context.Context, name string) (client auth.Client, err error) {
	err = s.inTx(ctx, func(t *txn) error {
		client, err = t.addClient(ctx, name)
		return err
	})
	return client, err
}

func (t *txn) addClient(ctx context.Context, name string) (auth.Client, error) {
	if !sqlrecord.CanHold(name) {
		return auth.Client{}, judgeName("client", name)
	}
	const find = `SELECT id FROM client WHERE name = ?1`
	id, found, err := t.one(ctx, find, mapping.TextValue(name))
	if err == nil && !found {
		if err := judgeName("client", name); err != nil {
			return auth.Client{}, err
		}
		// Another process may add the client meanwhile; it exists afterwards in any case.
		_, err = t.conn.Exec(ctx, `INSERT INTO client (name, created_at) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING`,
			mapping.TextValue(name), mapping.IntValue(t.now().UnixMilli()))
		if err == nil {
			id, _, err = t.one(ctx, find, mapping.TextValue(name))
		}
	}
	if err != nil {
		return auth.Client{}, fmt.Errorf("add client: %w", err)
	}
	return auth.Client{ID: id, Name: name}, nil
}

// AddUser adds a user, and its client if that is new. It fails with ErrUsernameTaken,
// ErrName or auth.ErrPasswordLength.
func (s *Store) AddUser(ctx context.Context, n NewUser) (user auth.User, err error) {
	if err := judgeName("user", n.Username); err != nil {
		return user, err
	}
	hash, err := s.hasher.Hash(ctx, n.Password)
	if err != nil {
		return user, fmt.Errorf("add user: %w", err)
	}
	err = s.inTx(ctx, func(t *txn) error {
		user, err = t.addUser(ctx, n, hash)
		return err
	})
	return user, err
}

func (t *txn) addUser(ctx context.Context, n NewUser, hash string) (auth.User, error) {
	client, err := t.addClient(ctx, n.Client)
	if err != nil {
		return auth.User{}, err
	}
	external := int64(0)
	if n.External {
		external = 1
	}
	added, err := t.conn.Exec(ctx, `INSERT INTO app_user (client_id, username, email, password_hash, is_external, is_blocked, created_at)
		VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6) ON CONFLICT (username) DO NOTHING`,
		mapping.IntValue(client.ID), mapping.TextValue(n.Username), mapping.TextValue(n.Email), mapping.TextValue(hash),
		mapping.IntValue(external), mapping.IntValue(t.now().UnixMilli()))
	switch {
	case err != nil:
		return auth.User{}, fmt.Errorf("add user: %w", err)
	case added == 0:
		return auth.User{}, ErrUsernameTaken
	}
	user, _, err := t.findUser(ctx, byName, auth.ErrUnknownUser, mapping.TextValue(n.Username))
	return user, err
}

// SetBlocked blocks or unblocks a user. Gateways poll EndedSessions, and so end the user's
// earlier sessions. It fails with auth.ErrUnknownUser.
func (s *Store) SetBlocked(ctx context.Context, username string, blocked bool) error {
	return s.changeUsers(ctx, func(t *txn) error {
		if !blocked {
			return t.changeUser(ctx, `is_blocked = 0 WHERE username = ?1`, mapping.TextValue(username))
		}
		return t.endSessions(ctx, `is_blocked = ?3 WHERE username = ?1`, mapping.TextValue(username), auth.CauseUserBlocked, mapping.IntValue(1))
	})
}

// SetPassword implements auth.Accounts.
func (s *Store) SetPassword(ctx context.Context, username, encodedHash string) error {
	return s.changeUsers(ctx, func(t *txn) error {
		return t.endSessions(ctx, `password_hash = ?3 WHERE username = ?1`, mapping.TextValue(username), auth.CauseNewPassword, mapping.TextValue(encodedHash))
	})
}

// endSessions makes a change of a user that ends the user's sessions. The end is by the clock of
// the database, whatever program makes the change, and later than the previous end: see auth.User.
func (t *txn) endSessions(ctx context.Context, change string, who mapping.Value, why auth.Cause, to mapping.Value) error {
	present := t.dialect.Present
	return t.changeUser(ctx, `sessions_end = CASE WHEN sessions_end >= `+present+` THEN sessions_end + 1 ELSE `+present+` END, sessions_end_why = ?2, `+change,
		who, mapping.TextValue(string(why)), to)
}

func (t *txn) changeUser(ctx context.Context, change string, args ...mapping.Value) error {
	n, err := t.conn.Exec(ctx, `UPDATE app_user SET `+change, args...)
	if err != nil {
		return fmt.Errorf("change user: %w", err)
	}
	if n == 0 {
		return auth.ErrUnknownUser
	}
	return nil
}

// changeUsers must work on a full disk too. The space reserved for that is released within the
// transaction, so that nobody else can use it first.
func (s *Store) changeUsers(ctx context.Context, change func(t *txn) error) error {
	err := s.inOwnTx(ctx, change)
	for more := s.freeReserve != nil; more && sqlrecord.DiskFull(err); {
		err = s.inOwnTx(ctx, func(t *txn) error {
			more = s.freeReserve()
			return change(t)
		})
	}
	return err
}

// Verify implements auth.Verifier.
func (s *Store) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	user, hash, err := s.readUser(ctx, c.Username)
	unknown := errors.Is(err, auth.ErrUnknownUser)
	if err != nil && !unknown {
		return auth.User{}, err
	}
	// Without a user the hash is empty, which costs the hasher the same time.
	match, err := s.hasher.Verify(ctx, c.Password, hash)
	if err != nil {
		return auth.User{}, fmt.Errorf("verify password: %w", err)
	}
	switch {
	case unknown:
		return auth.User{}, &auth.Refused{Why: auth.CauseUnknownUser}
	case user.Blocked:
		return auth.User{}, &auth.Refused{Why: auth.CauseUserBlocked, Client: user.Client}
	case !match:
		return auth.User{}, &auth.Refused{Why: auth.CauseWrongPassword, Client: user.Client}
	default:
		return user, nil
	}
}

// FindUser implements auth.Accounts.
func (s *Store) FindUser(ctx context.Context, username string) (auth.User, error) {
	user, _, err := s.readUser(ctx, username)
	return user, err
}

func (s *Store) readUser(ctx context.Context, username string) (user auth.User, hash string, err error) {
	if !sqlrecord.CanHold(username) {
		return user, "", auth.ErrUnknownUser
	}
	err = s.reserved.Read(ctx, func(conn sqlrecord.Conn) error {
		user, hash, err = s.internalTables(conn).findUser(ctx, byName, auth.ErrUnknownUser, mapping.TextValue(username))
		return err
	})
	return user, hash, err
}

// ListUsers returns all users of all clients, by name.
func (s *Store) ListUsers(ctx context.Context) (users []auth.User, err error) {
	err = s.reserved.Read(ctx, func(conn sqlrecord.Conn) error {
		users = nil
		return s.internalTables(conn).users(ctx, `ORDER BY u.username`, nil, func(u auth.User, _ string) { users = append(users, u) })
	})
	return users, err
}

// EndedSessions are the users who are blocked, and those whose sessions were ended
// within that time, by the clock of the database.
func (s *Store) EndedSessions(ctx context.Context, within time.Duration) (all []auth.UserEnd, err error) {
	find := `SELECT username, is_blocked, sessions_end, sessions_end_why FROM app_user WHERE is_blocked = 1 OR sessions_end > ` + s.db.Dialect().Present + ` - ?1`
	err = s.reserved.Read(ctx, func(conn sqlrecord.Conn) error {
		all = nil
		columns := []sqlrecord.Column{words, number, number, words}
		return conn.Query(ctx, find, columns, []mapping.Value{mapping.IntValue(within.Milliseconds())}, func(row []mapping.Value) error {
			all = append(all, auth.UserEnd{
				Username: row[0].Text(), Blocked: row[1].Int() == 1, End: moment(row[2]), Why: auth.Cause(row[3].Text()),
			})
			return nil
		})
	})
	return all, err
}

// moment converts a column of milliseconds to a time; zero for null.
func moment(v mapping.Value) time.Time {
	if !v.IsSet() {
		return time.Time{}
	}
	return time.UnixMilli(v.Int()).UTC()
}

// byName compares names byte by byte: upper and lower case differ.
const byName = `WHERE u.username = ?1`

// findUser returns the user that a condition finds, and fails with unknown if there is none.
func (h internalTables) findUser(ctx context.Context, which string, unknown error, args ...mapping.Value) (user auth.User, hash string, err error) {
	found := false
	err = h.users(ctx, which, args, func(u auth.User, encoded string) { user, hash, found = u, encoded, true })
	if err == nil && !found {
		err = unknown
	}
	return user, hash, err
}

func (h internalTables) users(ctx context.Context, which string, args []mapping.Value, each func(auth.User, string)) error {
	columns := []sqlrecord.Column{number, words, words, words, number, number, number, words, number}
	err := h.conn.Query(ctx, `SELECT u.id, u.username, u.email, u.password_hash, u.is_external, u.is_blocked, c.id, c.name, u.sessions_end
		FROM app_user u JOIN client c ON c.id = u.client_id `+which, columns, args, func(row []mapping.Value) error {
		each(auth.User{
			ID: row[0].Int(), Username: row[1].Text(), Email: row[2].Text(),
			External: row[4].Int() == 1, Blocked: row[5].Int() == 1,
			Client: auth.Client{ID: row[6].Int(), Name: row[7].Text()}, SessionsEnd: moment(row[8]),
		}, row[3].Text())
		return nil
	})
	if err != nil {
		return fmt.Errorf("read users: %w", err)
	}
	return nil
}
