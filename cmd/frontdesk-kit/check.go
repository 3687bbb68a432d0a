package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend/adopt/check"
	"frontdesk/backend/legacy"
	"frontdesk/backend/remote"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

type checkCommand struct {
	sheetFlags
	Rows     int    `default:"1000" help:"How many records of each resource are asked about. All are looked at."`
	Client   string `placeholder:"ID[:NAME]" help:"The client whose records an HTTP service is asked for, and that --write writes in; where clients are kept, what the service calls it."`
	Username string `placeholder:"NAME" help:"A user who logs in, and whose client's records are asked for. The password is that of the environment's FRONTDESK_PASSWORD, or is asked for on a terminal; without one the user is only looked for."`
	Other    string `placeholder:"ID[:NAME]" help:"Another client, to see that an HTTP service shows it nothing of the first one's."`
	Write    bool   `help:"Write too, in the client that --client names: one record of each resource that is made, changed and deleted; in a database also every code and the ends of each datatype, which is undone."`
	Since    string `placeholder:"FILE" help:"A report that --json printed before: what the system has changed of what the sheet uses is told too."`
	JSON     bool   `name:"json" help:"Print JSON, for programs."`
	HTML     string `name:"html" placeholder:"FILE" help:"Write the sheet with what was found as a page to look at, too. A file that is there stays."`
}

// Help explains the exit codes.
func (checkCommand) Help() string {
	return "It ends with 0 where nothing fails, with 1 where something does (an error in the report, or a system that cannot be reached), and with 2 where the command line or the sheet itself is wrong."
}

// Run fails if the sheet does not fit its system.
func (c checkCommand) Run(p desk.Program) error {
	if c.Rows < 1 {
		return desk.Misused("--rows %d: expected at least 1", c.Rows)
	}
	if c.Write && c.Client == "" {
		return desk.Misused("--write: expected --client too, the client whose records may be written")
	}
	if _, err := os.Stat(c.HTML); c.HTML != "" && !errors.Is(err, os.ErrNotExist) {
		return desk.Misused("--html %s: expected a file that is not there yet", c.HTML)
	}
	s, model, err := c.load()
	if problems, ok := errors.AsType[strictyaml.Problems](err); ok && c.JSON {
		return errors.Join(check.Unreadable(problems).WriteJSON(p.Stdout), desk.Misused("the sheet has %d problem(s)", len(problems)))
	}
	if err != nil {
		return err
	}
	report, err := c.compare(p, s, model)
	if err != nil {
		return err
	}
	if c.Since != "" {
		before, err := reportIn(c.Since)
		if err != nil {
			return desk.Misused("--since %s: expected a report of map check --json: %w", c.Since, err)
		}
		report.Since(before)
	}
	if err := c.print(p, report); err != nil {
		return err
	}
	if n := report.Count(check.Error); n > 0 {
		return fmt.Errorf("the sheet does not fit: %d error(s)", n)
	}
	return nil
}

// compare compares a sheet with its system.
func (c checkCommand) compare(p desk.Program, s *sheet.Sheet, model *mapping.Model) (report *check.Report, err error) {
	o := check.Options{Sheet: s, Model: model, Rows: c.Rows, Login: auth.Credentials{Username: c.Username}, Progress: terminal.NewStatus(p.Stderr)}
	if o.Login.Password, err = c.password(p); err != nil {
		return nil, err
	}
	defer o.Progress("")
	if s.Source.SQL == nil {
		return c.service(p, s, o)
	}
	if c.Write {
		if o.Write, err = numbered("client", c.Client); err != nil {
			return nil, err
		}
	}
	o.User = new(auth.User)
	o.Open = func(ctx context.Context, s *sheet.Sheet) (check.Database, error) {
		return openDatabase(ctx, s, func(context.Context) auth.User { return *o.User })
	}
	return check.SQL(p.Ctx, o)
}

// password returns the password of the user who logs in; "" if none was given.
func (c checkCommand) password(p desk.Program) (string, error) {
	given := os.Getenv("FRONTDESK_PASSWORD")
	keyboard := terminal.Keyboard(p.Stdin)
	if c.Username == "" || given != "" || keyboard == nil {
		return given, nil
	}
	return terminal.AskPassword(keyboard, p.Stderr, "Password (empty for none): ")
}

// print prints the report, and writes its page if one is wanted.
func (c checkCommand) print(p desk.Program, report *check.Report) error {
	if c.HTML != "" {
		if err := writePage(c.HTML, report); err != nil {
			return err
		}
	}
	if c.JSON {
		return report.WriteJSON(p.Stdout)
	}
	return report.WriteText(p.Stdout)
}

// service compares a sheet with an HTTP service. It deletes the copy of the records, and the IDs for its
// keys, when it is done.
func (c checkCommand) service(p desk.Program, s *sheet.Sheet, o check.Options) (report *check.Report, err error) {
	kept, db, release, err := openScratch(p.Ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	driver, err := remote.OpenDriver(p.Ctx, remote.Options{
		Sheet: s, IDStore: kept, Hasher: auth.NewHasher(), Now: time.Now, Random: mathrand.Float64, DB: db, Model: o.Model, Timeout: sinceTimeout, Closely: true,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, driver.Close()) }()
	name := func(flag, value string) (auth.Client, error) {
		switch {
		case value == "":
			return auth.Client{}, nil // the client is then that of the user
		case s.ClientsKept:
			return driver.Client(p.Ctx, value)
		}
		return numbered(flag, value)
	}
	if c.Client == "" && c.Username == "" {
		if c.Client = "1"; s.ClientsKept {
			return nil, desk.Misused("expected --client, what the service calls the client, or --username")
		}
	}
	client, err := name("client", c.Client)
	if err != nil {
		return nil, err
	}
	if o.Other, err = name("other", c.Other); err != nil {
		return nil, err
	}
	if c.Write {
		o.Write = client
	}
	return check.HTTP(p.Ctx, driver, client, o)
}

// sinceTimeout is how long a service may take to say what has changed.
const sinceTimeout = time.Minute

// numbered reads a client from a flag.
func numbered(flag, value string) (auth.Client, error) {
	number, name, _ := strings.Cut(value, ":")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return auth.Client{}, desk.Misused("--%s %s: expected a number, or number and name such as 7:garage-noord", flag, value)
	}
	return auth.Client{ID: id, Name: name}, nil
}

// database is a sheet's database with a scratch store of IDs.
type database struct {
	*legacy.Store
	release func() error
}

func (d database) Close() error { return errors.Join(d.Store.Close(), d.release()) }

// openDatabase opens the database of a sheet as the gateway does, for a user.
func openDatabase(ctx context.Context, s *sheet.Sheet, user func(context.Context) auth.User) (check.Database, error) {
	kept, _, release, err := openScratch(ctx, s)
	if err != nil {
		return nil, err
	}
	store, err := legacy.Open(ctx, legacy.Options{Sheet: s, IDStore: kept, Now: time.Now, Hasher: auth.NewHasher(), User: user})
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return database{store, release}, nil
}

// reportIn reads a report that was printed as JSON.
func reportIn(file string) (*check.Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	report := &check.Report{}
	return report, json.Unmarshal(text, report)
}

// writePage writes the HTML page of a report, readable only for this user.
func writePage(file string, report *check.Report) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return report.WritePage(f)
}
