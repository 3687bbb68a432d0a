package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type sessionsCommands struct {
	List sessionsListCommand `cmd:"" help:"List who is logged in: by which api_key, since when, last use."`
	End  sessionsEndCommand  `cmd:"" help:"End sessions. Whoever has a password and an api_key can log in again: user block and key revoke keep them out."`
}

// sessionFlags say which sessions.
type sessionFlags struct {
	administration
	Key    string `placeholder:"NAME" help:"Only sessions of this api_key."`
	Client string `placeholder:"NAME" help:"Only sessions of this client (customer)."`
	User   string `placeholder:"NAME" help:"Only sessions of this user."`
}

func (f sessionFlags) filter(id string) desk.SessionFilter {
	return desk.SessionFilter{ID: id, Key: f.Key, Client: f.Client, User: f.User}
}

// socket is that of a running frontdesk.
type socket struct {
	file   string
	client http.Client
}

// socket finds out where to ask.
func (f sessionFlags) socket(p desk.Program) (*socket, error) {
	c, err := f.load(p)
	if err != nil {
		return nil, err
	}
	file, err := desk.SocketOf(c)
	if err != nil {
		return nil, err
	}
	if file == "" {
		return nil, desk.Misused("%s: there is no socket to ask the gateway by: beside PostgreSQL ops.socket has to name a file for it", f.Config)
	}
	s := &socket{file: file}
	if whole, err := filepath.Abs(file); err == nil { // in messages: it may be relative to the folder that frontdesk serves in
		s.file = whole
	}
	s.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", file)
	}}
	s.client.Timeout = desk.SocketPatience
	return s, nil
}

// ask reads the answer to a request into a value.
func (s *socket) ask(ctx context.Context, method, path string, query url.Values, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://frontdesk"+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no frontdesk runs with this configuration: nothing listens at %s", s.file)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is for the user that frontdesk runs as, and for root: %w", s.file, fs.ErrPermission)
	case err != nil:
		return fmt.Errorf("the frontdesk at %s does not answer: %w", s.file, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return fmt.Errorf("the frontdesk at %s answers %d: %s", s.file, response.StatusCode, terminal.Safe(strings.TrimSpace(string(said))))
	}
	return json.NewDecoder(io.LimitReader(response.Body, mostSaid)).Decode(into)
}

// mostSaid bounds an answer, in bytes: a socket in a folder of others may be anybody's.
const mostSaid = 256 << 20

// list returns at most so many sessions of a filter.
func (s *socket) list(ctx context.Context, filter desk.SessionFilter, most int) (found desk.OpenSessions, err error) {
	query := filter.Query()
	query.Set("limit", strconv.Itoa(most))
	err = s.ask(ctx, http.MethodGet, "/sessions", query, &found)
	return found, err
}

type sessionsListCommand struct {
	sessionFlags
	Limit int  `default:"50" help:"How many at most."`
	JSON  bool `name:"json" help:"Print JSON, for programs."`
}

// Run prints a line per session.
func (l sessionsListCommand) Run(p desk.Program) error {
	s, err := l.socket(p)
	if err != nil {
		return err
	}
	found, err := s.list(p.Ctx, l.filter(""), l.Limit)
	switch {
	case err != nil:
		return err
	case l.JSON:
		return terminal.WriteJSON(p.Stdout, found)
	case found.Count == 0:
		_, err := fmt.Fprintln(p.Stderr, "No session is as asked for.")
		return err
	}
	now := time.Now()
	table := terminal.NewTable(p.Stdout)
	fmt.Fprintln(table, "ID\tKEY\tCLIENT\tUSER\tAGE\tLAST USE\tEXPIRES IN")
	for _, one := range found.Sessions {
		used := "-"
		if one.Used != nil {
			used = age(now.Sub(*one.Used)) + " ago"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Safe(one.ID), terminal.Safe(one.Key), terminal.Safe(one.Client), terminal.Safe(one.User), age(now.Sub(one.Opened)), used, age(one.Expires.Sub(now)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if left := found.Count - len(found.Sessions); left > 0 {
		fmt.Fprintf(p.Stderr, "and %s more: --limit shows them\n", terminal.Count(int64(left)))
	}
	return nil
}

type sessionsEndCommand struct {
	ID string `arg:"" optional:"" help:"The session, by its id in the list; or flags that say which."`
	sessionFlags
}

// Run ends sessions.
func (e sessionsEndCommand) Run(p desk.Program) error {
	filter := e.filter(e.ID)
	var words []string
	for _, part := range [][2]string{{"session", e.ID}, {"api_key", e.Key}, {"client", e.Client}, {"user", e.User}} {
		if part[1] != "" {
			words = append(words, part[0]+" "+part[1])
		}
	}
	if len(words) == 0 {
		return desk.Misused("expected the id of a session, or --key, --client or --user: all of these that are given have to be true of it")
	}
	said := strings.Join(words, ", ")
	s, err := e.socket(p)
	if err != nil {
		return err
	}
	found, err := s.list(p.Ctx, filter, 0)
	if err != nil {
		return err
	}
	if found.Count == 0 && e.ID != "" {
		return fmt.Errorf("there is no %s; frontdesk sessions list shows those there are", terminal.Safe(said))
	}
	if found.Count == 0 {
		_, err := fmt.Fprintf(p.Stdout, "there is no session of %s\n", terminal.Safe(said))
		return err
	}
	var done desk.EndedSessions
	err = acting(p.Stderr, "sessions end", terminal.Several(int64(found.Count), "session")+": "+said, func() error {
		if err := s.ask(p.Ctx, http.MethodPost, "/sessions/end", filter.Query(), &done); err != nil || done.Fault == "" {
			return err
		}
		return errors.New(done.Fault)
	})
	if done.Ended > 0 {
		fmt.Fprintf(p.Stdout, "%s ended\n", terminal.Several(int64(done.Ended), "session"))
	}
	return err
}
