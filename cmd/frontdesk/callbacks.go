package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// jobs calls f with the jobs in the gateway's own database; a server may be running on it.
func (a administration) jobs(p desk.Program, f func(context.Context, openJobs) error) error {
	c, err := a.load(p)
	if err != nil {
		return err
	}
	in, err := desk.DatabaseOf(c)
	if err != nil {
		return err
	}
	own, err := in.Open(p, c)
	if err != nil {
		return err
	}
	defer own.Close()
	jobs, err := jobstore.Open(p.Ctx, own)
	if err != nil {
		return err
	}
	return f(p.Ctx, openJobs{jobs, in})
}

// openJobs are the jobs in a database.
type openJobs struct {
	*jobstore.Store
	in desk.Database
}

// unknown adds advice to the error for a job that does not exist.
func (o openJobs) unknown(id string, err error) error {
	if errors.Is(err, webhook.ErrUnknownJob) {
		return fmt.Errorf("there is no job %s in %s; frontdesk callbacks list shows those there are", terminal.Safe(id), o.in)
	}
	return fmt.Errorf("job %s: %w", id, err)
}

type callbacksListCommand struct {
	administration
	State   string        `enum:",accepted,running,done,failed,called_back,collected,exhausted" default:"" help:"Only jobs in this state: accepted, running, done, failed, called_back, collected, exhausted."`
	Failing bool          `help:"Only jobs whose receiver did not take the last call: those that will be tried again, and those given up."`
	Client  string        `placeholder:"NAME" help:"Only jobs of this client (customer)."`
	Key     string        `placeholder:"NAME" help:"Only jobs of this api_key."`
	Host    string        `aliases:"receiver" placeholder:"HOST" help:"Only jobs whose callbacks go to this host (its receiver)."`
	Error   string        `placeholder:"ERROR" help:"Only jobs whose last call ended like this, in the words of the list: timeout, status, \"status 500\"."`
	Older   terminal.When `placeholder:"WHEN" help:"Only jobs that are older: 2h, 3d, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Limit   int           `help:"How many at most (default: 50; with --ids all)."`
	IDs     bool          `name:"ids" help:"Print their ids alone, for callbacks replay."`
}

func (callbacksListCommand) Help() string {
	return "STATE is that of the work: done and failed say nothing of the callback. CALLBACK says whether the receiver took it, why not, and when it is called next."
}

// filter returns the filter that the flags make up.
func (l callbacksListCommand) filter(now time.Time) (filter webhook.Filter, err error) {
	if word, _, _ := strings.Cut(l.Error, " "); word != "" && !slices.Contains(webhook.Problems(), word) {
		return filter, desk.Misused("--error %s: expected one of %s, the status after it if there is one: \"status 500\"", terminal.Safe(l.Error), strings.Join(webhook.Problems(), ", "))
	}
	most := 50
	if l.IDs {
		most = math.MaxInt32
	}
	return webhook.Filter{
		State: webhook.State(l.State), Failing: l.Failing, Client: l.Client, Key: l.Key, Receiver: l.Host, Error: l.Error, Before: l.Older.From(now), Limit: cmp.Or(l.Limit, most),
	}, nil
}

// Run prints a line per job.
func (l callbacksListCommand) Run(p desk.Program) error {
	return l.jobs(p, func(ctx context.Context, s openJobs) error {
		now := time.Now()
		filter, err := l.filter(now)
		if err != nil {
			return err
		}
		found, err := s.List(ctx, filter)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			_, err := fmt.Fprintf(p.Stderr, "No callback in %s is as asked for.\n", s.in)
			return err
		}
		if l.IDs {
			for _, j := range found {
				fmt.Fprintln(p.Stdout, j.ID)
			}
			return nil
		}
		tries, err := s.Last(ctx, found)
		if err != nil {
			return err
		}
		table := terminal.NewTable(p.Stdout, "ID", "STATE", "KIND", "CLIENT", "KEY", "RECEIVER", "AGE", "CALLBACK", "CAUSE")
		for _, j := range found {
			table.Row(j.ID, j.State, j.Work.Kind, j.Owner.User.Client.Name, j.Owner.Key, j.Host(), terminal.Age(now.Sub(j.Created)), callbackOf(j, tries[j.ID]), cmp.Or(j.Cause(), "-"))
		}
		return table.Flush()
	})
}

// callbackOf describes the state of the callback of a job, by its last try.
func callbackOf(j webhook.Job, last webhook.Try) string {
	problem := last.Problem()
	switch {
	case j.State == webhook.Accepted || j.State == webhook.Running:
		return "-"
	case j.State == webhook.Exhausted:
		return fmt.Sprintf("given up after %s: %s", terminal.Several(j.Tries, "call"), problem)
	case j.State == webhook.Collected:
		return "the client fetched the result"
	case last.Status != 0 && problem != "" && j.NextTry.IsZero():
		return "wants no more: " + problem
	case j.State == webhook.CalledBack:
		return "taken"
	case problem == "":
		return "not called yet, due " + terminal.Second(j.NextTry)
	case j.Tries == 0:
		return fmt.Sprintf("due again %s, before that: %s", terminal.Second(j.NextTry), problem)
	default:
		return fmt.Sprintf("not taken: %s, %s, next %s", problem, terminal.Several(j.Tries, "call"), terminal.Second(j.NextTry))
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
		var last webhook.Try
		if len(tries) > 0 {
			last = tries[len(tries)-1]
		}
		table := terminal.NewTable(p.Stdout)
		for _, line := range [][2]string{
			{"id", j.ID}, {"state", string(j.State)}, {"callback", callbackOf(j, last)}, {"kind", j.Work.Kind}, {"client", j.Owner.User.Client.Name},
			{"user", j.Owner.User.Username}, {"api_key", j.Owner.Key}, {"receiver", j.Host()}, {"created", terminal.Second(j.Created)},
			{"finished", terminal.Second(j.Finished)}, {"result", resultOf(j)}, {"failure", j.Failure},
		} {
			if line[1] != "" {
				table.Row(line[0], line[1])
			}
		}
		for _, p := range j.Pauses {
			table.Row("postponed", terminal.Second(p.Since)+"  "+p.For)
		}
		if err := table.Flush(); err != nil || len(tries) == 0 {
			return err
		}
		fmt.Fprintln(p.Stdout)
		table = terminal.NewTable(p.Stdout, "TRY", "AT", "ANSWER", "TOOK", "ERROR")
		for _, t := range tries {
			answer := "none"
			if t.Status != 0 {
				answer = fmt.Sprint(t.Status)
			}
			table.Row(t.Number, t.At, answer, t.Duration, inWords(t.Error))
		}
		return table.Flush()
	})
}

// inWords explains the word for a failed call, if it is not clear by itself.
func inWords(problem string) string {
	words := map[string]string{
		webhook.ErrConnect: "the connection was refused, or there is no way to the receiver", webhook.ErrResolve: "the receiver's name is not known",
		webhook.ErrAnswer: "the connection ended before an answer, or it was no HTTP", webhook.ErrAddress: "the address is not public, or the port is not allowed",
		webhook.ErrSecret: "a webhook_secret cannot be read", webhook.ErrTLS: "the certificate, or TLS",
	}
	if more := words[problem]; more != "" {
		return problem + ": " + more
	}
	return problem
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
	IDs []string `arg:"" name:"id" help:"The jobs, by their ids in the list: frontdesk callbacks list --failing --ids | xargs frontdesk callbacks replay."`
}

// Run makes callbacks due; the running server then calls. If one job fails, it goes on with the others.
func (c callbacksReplayCommand) Run(p desk.Program) error {
	return c.jobs(p, func(ctx context.Context, s openJobs) (failed error) {
		for _, id := range c.IDs {
			_, err := s.Get(ctx, id)
			if err == nil {
				err = acting(p.Stderr, "callbacks replay", "job "+id, func() error { return webhook.Replay(ctx, s.Store, id, time.Now()) })
			}
			if err != nil {
				failed = errors.Join(failed, s.unknown(id, err))
				continue
			}
			fmt.Fprintf(p.Stdout, "job %s is due again; a running server calls within a second\n", id)
		}
		return failed
	})
}
