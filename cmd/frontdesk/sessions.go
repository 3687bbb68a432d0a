package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type sessionsCommands struct {
	List sessionsListCommand `cmd:"" help:"List who is logged in: by which api_key, since when, last use."`
	End  sessionsEndCommand  `cmd:"" help:"End sessions. Whoever has a password and an api_key can log in again: user block and key revoke keep them out."`
}

// sessionFlags select sessions.
type sessionFlags struct {
	administration
	Key    string `placeholder:"NAME" help:"Only sessions of this api_key."`
	Client string `placeholder:"NAME" help:"Only sessions of this client (customer)."`
	User   string `placeholder:"NAME" help:"Only sessions of this user."`
}

func (f sessionFlags) filter(id string) desk.SessionFilter {
	return desk.SessionFilter{ID: id, Key: f.Key, Client: f.Client, User: f.User}
}

// socket returns the gateway to ask.
func (f sessionFlags) socket(p desk.Program) (*running, error) {
	c, err := f.load(p)
	if err != nil {
		return nil, err
	}
	file, err := desk.SocketOf(c)
	if err == nil && file == "" {
		err = desk.Misused("%s: there is no socket to ask the gateway by: beside PostgreSQL ops.socket has to name a file for it", f.Config)
	}
	if err != nil {
		return nil, err
	}
	return socketAt(file), nil
}

type sessionsListCommand struct {
	sessionFlags
	Limit int  `default:"50" help:"How many at most."`
	JSON  bool `name:"json" help:"Print JSON, for programs."`
}

// Run prints a line per session.
func (l sessionsListCommand) Run(p desk.Program) error {
	gateway, err := l.socket(p)
	if err != nil {
		return err
	}
	query := l.filter("").Query()
	query.Set("limit", strconv.Itoa(l.Limit))
	var found desk.OpenSessions
	switch err := gateway.read(p.Ctx, http.MethodGet, "/sessions?"+query.Encode(), &found); {
	case err != nil:
		return err
	case l.JSON:
		return terminal.WriteJSON(p.Stdout, found)
	case found.Count == 0:
		_, err := fmt.Fprintln(p.Stderr, "No session is as asked for.")
		return err
	}
	now := time.Now()
	table := terminal.NewTable(p.Stdout, "ID", "KEY", "CLIENT", "USER", "AGE", "LAST USE", "EXPIRES IN")
	for _, one := range found.Sessions {
		used := "-"
		if one.Used != nil {
			used = terminal.Age(now.Sub(*one.Used)) + " ago"
		}
		table.Row(one.ID, one.Key, one.Client, one.User, terminal.Age(now.Sub(one.Opened)), used, terminal.Age(one.Expires.Sub(now)))
	}
	if left := found.Count - len(found.Sessions); left > 0 {
		fmt.Fprintf(p.Stderr, "and %s more: --limit shows them\n", terminal.Count(left))
	}
	return table.Flush()
}

type sessionsEndCommand struct {
	ID string `arg:"" optional:"" help:"The session, by its id in the list; or flags that say which."`
	sessionFlags
}

// Run ends sessions.
func (e sessionsEndCommand) Run(p desk.Program) error {
	var given []string
	for _, part := range [][2]string{{"session", e.ID}, {"api_key", e.Key}, {"client", e.Client}, {"user", e.User}} {
		if part[1] != "" {
			given = append(given, part[0]+" "+part[1])
		}
	}
	if len(given) == 0 {
		return desk.Misused("expected the id of a session, or --key, --client or --user: all of these that are given have to be true of it")
	}
	gateway, err := e.socket(p)
	if err != nil {
		return err
	}
	var done desk.EndedSessions
	err = acting(p.Stderr, "sessions end", "those of "+strings.Join(given, ", "), func() error {
		if err := gateway.read(p.Ctx, http.MethodPost, "/sessions/end?"+e.filter(e.ID).Query().Encode(), &done); err != nil || done.Fault == "" {
			return err
		}
		return errors.New(done.Fault)
	})
	if done.Ended > 0 {
		fmt.Fprintf(p.Stdout, "%s ended\n", terminal.Several(done.Ended, "session"))
	} else if err == nil {
		err = fmt.Errorf("there is no session of %s; frontdesk sessions list shows those there are", terminal.Safe(strings.Join(given, ", ")))
	}
	return err
}
