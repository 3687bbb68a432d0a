package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

type callbacksCommands struct {
	List   callbacksListCommand   `cmd:"" help:"List callback jobs, newest first."`
	Show   callbacksShowCommand   `cmd:"" help:"Show a job and every try to call its receiver."`
	Replay callbacksReplayCommand `cmd:"" help:"Have the callback of a finished job made again, from the first try."`
}

// jobs opens the jobs of an administration.
func (a administration) jobs(p desk.Program, f func(context.Context, openJobs) error) error {
	return a.own(p, func(own sqlrecord.DB, in desk.Database) error {
		jobs, err := jobstore.Open(p.Ctx, own)
		if err != nil {
			return err
		}
		return f(p.Ctx, openJobs{jobs, own, in})
	})
}

// openJobs are the jobs of a database.
type openJobs struct {
	*jobstore.Store
	own sqlrecord.DB
	in  desk.Database
}

// unknown words an error for who named a job that is not there.
func (o openJobs) unknown(id string, err error) error {
	if errors.Is(err, webhook.ErrUnknownJob) {
		return fmt.Errorf("there is no job %s in %s; frontdesk callbacks list shows those there are", terminal.Safe(id), o.in)
	}
	return err
}

type callbacksListCommand struct {
	administration
	State    string        `enum:",accepted,running,done,failed,called_back,collected,exhausted" default:"" help:"Only jobs in this state: accepted, running, done, failed, called_back, collected, exhausted."`
	Failing  bool          `help:"Only jobs whose receiver did not take the last call: those that will be tried again, and those given up."`
	Client   string        `placeholder:"NAME" help:"Only jobs of this client (customer)."`
	Key      string        `complete:"key" placeholder:"NAME" help:"Only jobs of this api_key."`
	Receiver string        `placeholder:"HOST" help:"Only jobs whose callbacks go to this host."`
	Older    terminal.When `placeholder:"WHEN" help:"Only jobs that are older: 2h, 3d, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Limit    int           `default:"50" help:"How many at most."`
}

// Run prints a line per job.
func (l callbacksListCommand) Run(p desk.Program) error {
	return l.jobs(p, func(ctx context.Context, s openJobs) error {
		now := time.Now()
		found, err := s.List(ctx, webhook.Filter{
			State: webhook.State(l.State), Failing: l.Failing, Client: l.Client, Key: l.Key, Receiver: l.Receiver, Before: l.Older.From(now), Limit: l.Limit,
		})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			_, err := fmt.Fprintf(p.Stderr, "No callback in %s is as asked for.\n", s.in)
			return err
		}
		tries, err := s.Last(ctx, found)
		if err != nil {
			return err
		}
		table := terminal.NewTable(p.Stdout)
		fmt.Fprintln(table, "ID\tSTATE\tKIND\tCLIENT\tKEY\tRECEIVER\tAGE\tTRIES\tNEXT TRY\tERROR\tCAUSE")
		for _, j := range found {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", j.ID, j.State, j.Work.Kind, terminal.Safe(j.Owner.User.Client.Name), terminal.Safe(j.Owner.Key),
				terminal.Safe(hostOf(j.Callback)), age(now.Sub(j.Created)), j.Tries, terminal.Second(j.NextTry), terminal.Safe(errorOf(tries[j.ID])), terminal.Safe(causeOf(j)))
		}
		return table.Flush()
	})
}

// errorOf is in short why a receiver did not take a call; - where it did, or none was made.
func errorOf(t webhook.Try) string {
	if t.Status == 0 {
		return cmp.Or(t.Error, "-")
	}
	if t.Error == "" {
		return "-"
	}
	return fmt.Sprintf("%s %d", t.Error, t.Status)
}

// age is how long ago something was, as people say it.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0)/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d/time.Hour), int(d%time.Hour/time.Minute))
	default:
		return fmt.Sprintf("%dd%dh", int(d/(24*time.Hour)), int(d%(24*time.Hour)/time.Hour))
	}
}

// causeOf is in short why a job has no result.
func causeOf(j webhook.Job) string {
	if j.Failure == "" && len(j.Pauses) > 0 && j.State == webhook.Running {
		return j.Pauses[len(j.Pauses)-1].For
	}
	cause, _, _ := strings.Cut(j.Failure, ": ")
	return cmp.Or(cause, "-")
}

type callbacksShowCommand struct {
	administration
	ID string `arg:"" help:"The job, by its id in the list, or in the Location of the 202 that promised it."`
}

// Run prints a job and its journal.
func (c callbacksShowCommand) Run(p desk.Program) error {
	return c.jobs(p, func(ctx context.Context, s openJobs) error {
		j, err := s.Get(ctx, c.ID)
		if err != nil {
			return s.unknown(c.ID, err)
		}
		tries, err := s.Journal(ctx, c.ID)
		if err != nil {
			return err
		}
		table := terminal.NewTable(p.Stdout)
		for _, line := range [][2]string{
			{"id", j.ID}, {"state", string(j.State)}, {"kind", j.Work.Kind}, {"client", j.Owner.User.Client.Name},
			{"user", j.Owner.User.Username}, {"api_key", j.Owner.Key}, {"receiver", hostOf(j.Callback)},
			{"created", terminal.Second(j.Created)}, {"finished", terminal.Second(j.Finished)}, {"next try", terminal.Second(j.NextTry)},
			{"result", resultOf(j)}, {"failure", j.Failure},
		} {
			if line[1] != "" {
				fmt.Fprintf(table, "%s\t%s\n", line[0], terminal.Safe(line[1]))
			}
		}
		if len(j.Pauses) > 0 {
			fmt.Fprintln(table, "\nWORK\tSINCE\tCAUSE")
		}
		for _, p := range j.Pauses {
			fmt.Fprintf(table, "postponed\t%s\t%s\n", terminal.Second(p.Since), p.For)
		}
		if len(tries) > 0 {
			fmt.Fprintln(table, "\nTRY\tAT\tSTATUS\tTOOK\tERROR")
		}
		for _, t := range tries {
			fmt.Fprintf(table, "%d\t%s\t%d\t%s\t%s\n", t.Number, terminal.Second(t.At), t.Status, t.Duration, terminal.Safe(t.Error))
		}
		return table.Flush()
	})
}

// hostOf keeps what may be secret in a receiver's address from the screen.
func hostOf(callback string) string {
	u, err := url.Parse(callback)
	if err != nil {
		return ""
	}
	return u.Host
}

func resultOf(j webhook.Job) string {
	switch {
	case j.Result.Name == "":
		return ""
	case j.Result.File == "":
		return "gave way to others: it had been fetched, and they needed the room"
	}
	return fmt.Sprintf("%s, %d bytes, sha256 %s", j.Result.Name, j.Result.Size, j.Result.SHA256)
}

type callbacksReplayCommand struct {
	administration
	ID string `arg:"" help:"The job, by its id in the list, or in the Location of the 202 that promised it."`
}

// Run makes the callback due; the server that runs makes it.
func (c callbacksReplayCommand) Run(p desk.Program) error {
	return c.jobs(p, func(ctx context.Context, s openJobs) error {
		if _, err := s.Get(ctx, c.ID); err != nil {
			return s.unknown(c.ID, err)
		}
		err := ledger.Command(p.Ctx, s.own, p.Stderr, "callbacks replay", "job "+c.ID, func() error { return webhook.Replay(ctx, s.Store, c.ID, time.Now()) })
		if err != nil {
			return s.unknown(c.ID, err)
		}
		_, err = fmt.Fprintf(p.Stdout, "job %s is due again; a running server calls within a second\n", c.ID)
		return err
	})
}
