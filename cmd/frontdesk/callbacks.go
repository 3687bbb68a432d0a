package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

type callbacksCommands struct {
	List   callbacksListCommand   `cmd:"" help:"List callback jobs, newest first."`
	Show   callbacksShowCommand   `cmd:"" help:"Show a job and every try to call its receiver."`
	Replay callbacksReplayCommand `cmd:"" help:"Have callbacks of finished jobs made again, from the first try."`
}

// jobs opens the jobs of an administration.
func (a administration) jobs(p desk.Program, f func(context.Context, openJobs) error) error {
	return a.own(p, func(own sqlrecord.DB, in desk.Database) error {
		jobs, err := jobstore.Open(p.Ctx, own)
		if err != nil {
			return err
		}
		return f(p.Ctx, openJobs{jobs, in})
	})
}

// openJobs are the jobs of a database.
type openJobs struct {
	*jobstore.Store
	in desk.Database
}

// unknown words an error for who named a job that is not there.
func (o openJobs) unknown(id string, err error) error {
	if errors.Is(err, webhook.ErrUnknownJob) {
		return fmt.Errorf("there is no job %s in %s; frontdesk callbacks list shows those there are", terminal.Safe(id), o.in)
	}
	return err
}

// jobFlags say which jobs.
type jobFlags struct {
	State   string        `enum:",accepted,running,done,failed,called_back,collected,exhausted" default:"" help:"Only jobs in this state: accepted, running, done, failed, called_back, collected, exhausted."`
	Failing bool          `help:"Only jobs whose receiver did not take the last call: those that will be tried again, and those given up."`
	Client  string        `placeholder:"NAME" help:"Only jobs of this client (customer)."`
	Key     string        `placeholder:"NAME" help:"Only jobs of this api_key."`
	Host    string        `aliases:"receiver" placeholder:"HOST" help:"Only jobs whose callbacks go to this host (its receiver)."`
	Error   string        `placeholder:"ERROR" help:"Only jobs whose last call ended like this, in the words of the list: timeout, status, \"status 500\"."`
	Older   terminal.When `placeholder:"WHEN" help:"Only jobs that are older: 2h, 3d, 2026-11-01 or 2026-11-01T12:00:00Z."`
}

// filter is what the flags say, and in words those of them that are set.
func (f jobFlags) filter(now time.Time) (filter webhook.Filter, said string, err error) {
	if word, _, _ := strings.Cut(f.Error, " "); f.Error != "" && !slices.ContainsFunc(webhook.Problems(), func(p string) bool { return p == f.Error || p == word }) {
		return filter, "", desk.Misused("--error %s: expected one of %s, the status after it if there is one: \"status 500\"", terminal.Safe(f.Error), strings.Join(webhook.Problems(), ", "))
	}
	filter = webhook.Filter{State: webhook.State(f.State), Failing: f.Failing, Client: f.Client, Key: f.Key, Receiver: f.Host, Error: f.Error, Before: f.Older.From(now)}
	var words []string
	for _, flag := range [][2]string{{"state", f.State}, {"client", f.Client}, {"api_key", f.Key}, {"host", f.Host}, {"error", f.Error}} {
		if flag[1] != "" {
			words = append(words, flag[0]+" "+flag[1])
		}
	}
	if f.Failing {
		words = append(words, "failing")
	}
	if !filter.Before.IsZero() {
		words = append(words, "created until "+terminal.Second(filter.Before))
	}
	return filter, strings.Join(words, ", "), nil
}

type callbacksListCommand struct {
	administration
	jobFlags
	Limit int `default:"50" help:"How many at most."`
}

// Run prints a line per job.
func (l callbacksListCommand) Run(p desk.Program) error {
	return l.jobs(p, func(ctx context.Context, s openJobs) error {
		now := time.Now()
		filter, _, err := l.filter(now)
		if err != nil {
			return err
		}
		filter.Limit = l.Limit
		found, err := s.List(ctx, filter)
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
				terminal.Safe(j.Host()), age(now.Sub(j.Created)), j.Tries, terminal.Second(j.NextTry), terminal.Safe(cmp.Or(tries[j.ID].Problem(), "-")), terminal.Safe(cmp.Or(j.Cause(), "-")))
		}
		return table.Flush()
	})
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
			{"user", j.Owner.User.Username}, {"api_key", j.Owner.Key}, {"receiver", j.Host()},
			{"created", terminal.Second(j.Created)}, {"finished", terminal.Second(j.Finished)}, {"next try", terminal.Second(j.NextTry)}, {"after it, about", laterTries(j)},
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

// laterTries are those that follow the next one, if the receiver takes none of them.
func laterTries(j webhook.Job) string {
	var all []string
	for i, at := range j.Ahead(time.Now()) {
		if i > 0 {
			all = append(all, terminal.Minute(at))
		}
	}
	return strings.Join(all, ", ")
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
