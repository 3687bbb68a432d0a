package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// administration is what a command needs to open the administration.
type administration struct{ configFlag }

// opened is the administration as a command opens it; a server may be running on it.
type opened struct {
	*reference.Store
	in     desk.Database
	config *config.Config
}

// load reads the configuration. Problems with api_keys do not keep a command from the records.
func (a administration) load(p desk.Program) (*config.Config, error) {
	return desk.LoadPartly(p, a.Config, func(problem strictyaml.Problem) bool {
		ofKeys := func(section string) bool { return strings.HasPrefix(problem.Path, section) }
		return problem.File != a.Config || slices.ContainsFunc([]string{"api_keys", "expect", "include"}, ofKeys)
	})
}

// open opens the administration. It fails if there is none.
func (a administration) open(p desk.Program) (*opened, error) {
	c, err := a.load(p)
	if err != nil {
		return nil, err
	}
	if c.Backend.Driver != desk.ReferenceDriver {
		return nil, desk.Misused("%s: backend.driver is %s, whose users and records are kept where its mapping sheet says; this command is for the built-in administration", a.Config, c.Backend.Driver)
	}
	model, err := mapping.LoadModel(c.Model.Dir)
	if err != nil {
		return nil, err
	}
	o, file := &opened{config: c}, desk.DatabaseFileOf(c)
	if o.in, err = desk.DatabaseOf(c); err == nil {
		err = o.in.There()
	}
	if err != nil {
		return nil, err
	}
	err = desk.WithReserve(file, func() (err error) {
		o.Store, err = reference.Open(p.Ctx, reference.Options{
			DSN: string(c.Backend.DSN), Model: model, Hasher: auth.NewHasher(), Now: time.Now, Readers: 1, Log: zap.NewNop(), FreeReserve: desk.ReleaseReserve(file),
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the administration: %w", err)
	}
	return o, nil
}

// unknown adds advice to the error for a user or a client that does not exist.
func (o *opened) unknown(name string, err error) error {
	switch {
	case errors.Is(err, auth.ErrUnknownUser):
		return fmt.Errorf("there is no user %s in %s; frontdesk user list shows who there is", terminal.Safe(name), o.in)
	case errors.Is(err, reference.ErrUnknownClient):
		return fmt.Errorf("there is no client %q in %s; frontdesk user list shows the clients and their users", name, o.in)
	default:
		return desk.AdviseFull(err)
	}
}

// endSessions ends the open sessions of a user in the store that gateways share. It returns when they end: in
// any case soon, since the administration, which every gateway asks, has the end already.
func (o *opened) endSessions(p desk.Program, username string, why auth.Cause) string {
	user, err := o.FindUser(p.Ctx, username)
	if err == nil {
		var shared bool
		if shared, err = desk.EndSessionsOf(p, o.config, user.Username, why); shared && err == nil {
			return "open sessions have ended"
		}
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "The store of sessions could not be told: %s\n", o.config.Hide(err.Error()))
	}
	return "sessions that are open end " + desk.BlockedEnds
}

// actLine is a line of the audit log, as a gateway writes those of requests.
type actLine struct {
	Level   string `json:"level"`
	At      string `json:"ts"`
	Logger  string `json:"logger"`
	Message string `json:"msg"`
	What    string `json:"what"` // as "user block"
	Whom    string `json:"whom"` // the object of the act: a user, a client, a job
	Who     string `json:"who"`
	From    string `json:"from"`
	Outcome string `json:"outcome"`
}

// acting does something for a command, and writes to stderr who did it, in a line for the audit log.
// The line holds no secret.
func acting(stderr io.Writer, what, whom string, do func() error) error {
	err := do()
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	_ = terminal.WriteJSON(stderr, actLine{ // the act matters more than its line
		Level: "info", At: time.Now().Format("2006-01-02T15:04:05.000Z0700"), Logger: "audit", Message: "act",
		What: what, Whom: whom, Who: whoActs(), From: whereFrom(), Outcome: outcome,
	})
	return err
}

// whoActs returns the user of the system that runs the command, and for whom, according to sudo. The
// system vouches for the first; the second can be set by anybody who may run the command.
func whoActs() string {
	name := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" && by != name {
		name += " (sudo of " + by + ")"
	}
	return name
}

// whereFrom returns the host, and from where its user has logged in.
func whereFrom() string {
	host, _ := os.Hostname() // "" is reported as unknown
	all := []string{cmp.Or(host, "host unknown")}
	if from, _, over := strings.Cut(os.Getenv("SSH_CONNECTION"), " "); over {
		all = append(all, "ssh from "+from)
	}
	return strings.Join(all, ", ")
}
