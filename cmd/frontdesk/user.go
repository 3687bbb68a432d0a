package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/mapping"
)

type userCommands struct {
	Add     userAddCommand     `cmd:"" help:"Add a user, with a password from the terminal or standard input, and its client (customer) where that is new."`
	Passwd  userPasswdCommand  `cmd:"" help:"Set a user's password, from the terminal or one line of standard input."`
	List    userListCommand    `cmd:"" help:"List the users."`
	Block   userBlockCommand   `cmd:"" help:"Block a user, who can then not log in; sessions that are open end."`
	Unblock userUnblockCommand `cmd:"" help:"Let a user log in again."`
	Hash    userHashCommand    `cmd:"" help:"Print the hash of a password, from the terminal or standard input, for the users of a mapping sheet."`
}

// userFlags name the user that a command is about.
type userFlags struct {
	administration
	Username string `arg:"" help:"Login name, unique over all clients."`
}

// change changes a user. It looks the user up first, so that a password that was typed in place of the name
// does not get into the log.
func (u userFlags) change(p desk.Program, what string, do func(*opened) error, done func(*opened) string) error {
	store, err := u.open(p)
	if err != nil {
		return err
	}
	defer store.Close()
	if _, err = store.FindUser(p.Ctx, u.Username); err == nil {
		err = acting(p.Stderr, what, "user "+u.Username, func() error { return do(store) })
	}
	if err != nil {
		return store.unknown(u.Username, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "user %s in %s %s\n", terminal.Safe(u.Username), store.in, done(store))
	return err
}

type userAddCommand struct {
	userFlags
	Client   string `required:"" placeholder:"NAME" help:"The client (customer) whose records the user works with."`
	Email    string `required:"" placeholder:"ADDRESS" help:"E-mail address; a user without one cannot log in."`
	External bool   `help:"An external user, who cannot log in here."`
}

// Run adds the user.
func (u userAddCommand) Run(p desk.Program) error {
	for _, given := range [][2]string{{"user", u.Username}, {"--client", u.Client}, {"--email", u.Email}} {
		if !mapping.IsPlain(given[1]) {
			return desk.Misused("%s %q: %w", given[0], given[1], reference.ErrName)
		}
	}
	if !mapping.IsEmail(u.Email) {
		return desk.Misused("--email %s: not an e-mail address", u.Email)
	}
	store, err := u.open(p)
	if err != nil {
		return err
	}
	defer store.Close()
	password, err := readPassword(p)
	if err != nil {
		return err
	}
	err = acting(p.Stderr, "user add", fmt.Sprintf("user %s of client %s", u.Username, u.Client), func() error {
		_, err := store.AddUser(p.Ctx, reference.NewUser{
			Username: u.Username, Password: password, Email: u.Email, Client: u.Client, External: u.External,
		})
		return err
	})
	if errors.Is(err, reference.ErrUsernameTaken) {
		return fmt.Errorf("there is a user %s already; frontdesk user passwd sets its password", u.Username)
	}
	if err == nil {
		_, err = fmt.Fprintf(p.Stdout, "user %s added to client %s in %s\n", u.Username, u.Client, store.in)
	}
	return err
}

type userPasswdCommand struct{ userFlags }

// Run sets the password. A serving frontdesk ends the user's open sessions by itself, see
// watchEnded.
func (u userPasswdCommand) Run(p desk.Program) error {
	return u.change(p, "user passwd", func(store *opened) error {
		password, err := readPassword(p)
		if err != nil {
			return err
		}
		encoded, err := auth.NewHasher().Hash(p.Ctx, password)
		if err != nil {
			return err
		}
		return store.SetPassword(p.Ctx, u.Username, encoded)
	}, func(store *opened) string {
		return "has the new password; " + store.endSessions(p, u.Username, auth.CauseNewPassword)
	})
}

type userBlockCommand struct{ userFlags }

// Run blocks a user. A serving frontdesk notices it by itself, see watchEnded.
func (u userBlockCommand) Run(p desk.Program) error {
	return u.change(p, "user block", func(store *opened) error { return store.SetBlocked(p.Ctx, u.Username, true) }, func(store *opened) string {
		return "is blocked: no login succeeds any more; " + store.endSessions(p, u.Username, auth.CauseUserBlocked)
	})
}

type userUnblockCommand struct{ userFlags }

// Run lets a user log in again.
func (u userUnblockCommand) Run(p desk.Program) error {
	return u.change(p, "user unblock", func(store *opened) error { return store.SetBlocked(p.Ctx, u.Username, false) },
		func(*opened) string { return "may log in again" })
}

type userListCommand struct{ administration }

// Run lists the users.
func (u userListCommand) Run(p desk.Program) error {
	store, err := u.open(p)
	if err != nil {
		return err
	}
	defer store.Close()
	users, err := store.ListUsers(p.Ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "The users of %s:\n", store.in)
	table := terminal.NewTable(p.Stdout, "USERNAME", "CLIENT", "EMAIL", "NOTE")
	for _, user := range users {
		note := ""
		if user.External {
			note = "external, cannot log in"
		}
		if user.Blocked {
			note = strings.TrimPrefix(note+"; blocked", "; ")
		}
		table.Row(user.Username, user.Client.Name, user.Email, note)
	}
	return table.Flush()
}

type userHashCommand struct{}

// Run prints a hash; it differs every time, since the salt is random.
func (userHashCommand) Run(p desk.Program) error {
	password, err := readPassword(p)
	if err != nil {
		return err
	}
	encoded, err := auth.NewHasher().Hash(p.Ctx, password)
	if err == nil {
		_, err = fmt.Fprintln(p.Stdout, encoded)
	}
	return err
}

// readPassword asks for a password twice on a terminal, and takes one line from
// standard input otherwise.
func readPassword(p desk.Program) (password string, err error) {
	keyboard := terminal.Keyboard(p.Stdin)
	if keyboard == nil {
		password, err = bufio.NewReader(p.Stdin).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		password = strings.TrimRight(password, "\r\n")
	} else if password, err = terminal.AskPassword(keyboard, p.Stderr, "Password: "); err == nil {
		var again string
		if again, err = terminal.AskPassword(keyboard, p.Stderr, "The same again: "); err == nil && again != password {
			err = errors.New("the two passwords are not the same")
		}
	}
	if err == nil && (len(password) < auth.MinPassword || len(password) > auth.MaxPassword) {
		err = fmt.Errorf("the password has %d bytes; expected %d to %d, typed twice or as one line of standard input", len(password), auth.MinPassword, auth.MaxPassword)
	}
	return password, err
}
