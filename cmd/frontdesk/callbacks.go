package main

import (
	"context"
	"errors"
	"fmt"
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

// jobs opens the gateway's own database, beside a server that may run, for its jobs.
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
	if word, _, _ := strings.Cut(f.Error, " "); word != "" && !slices.Contains(webhook.Problems(), word) {
		return filter, "", desk.Misused("--error %s: expected one of %s, the status after it if there is one: \"status 500\"", terminal.Safe(f.Error), strings.Join(webhook.Problems(), ", "))
	}
	filter = webhook.Filter{State: webhook.State(f.State), Failing: f.Failing, Client: f.Client, Key: f.Key, Receiver: f.Host, Error: f.Error, Before: f.Older.From(now)}
	older := ""
	if !filter.Before.IsZero() {
		older = terminal.Second(filter.Before)
	}
	said = saidOf("state", f.State, "client", f.Client, "api_key", f.Key, "host", f.Host, "error", f.Error, "created until", older)
	if f.Failing {
		said = strings.TrimPrefix(said+", failing", ", ")
	}
	return filter, said, nil
}

// saidOf puts flags that are set into words: name and value come in turn.
func saidOf(flags ...string) string {
	var words []string
	for i := 0; i < len(flags); i += 2 {
		if flags[i+1] != "" {
			words = append(words, flags[i]+" "+flags[i+1])
		}
	}
	return strings.Join(words, ", ")
}

type callbacksListCommand struct {
	administration
	jobFlags
	Limit int `default:"50" help:"How many at most."`
}

func (callbacksListCommand) Help() string {
	return "STATE is that of the work: done and failed say nothing of the callback. CALLBACK says whether the receiver took it, why not, and when it is called next."
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
		table := terminal.NewTable(p.Stdout, "ID", "STATE", "KIND", "CLIENT", "KEY", "RECEIVER", "AGE", "CALLBACK", "CAUSE")
		for _, j := range found {
			table.Row(j.ID, j.State, j.Work.Kind, j.Owner.User.Client.Name, j.Owner.Key, j.Host(), terminal.Age(now.Sub(j.Created)), callbackOf(j, tries[j.ID]), orDash(j.Cause()))
		}
		return table.Flush()
	})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// callbackOf says what became of the callback of a job, by its last try.
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
			{"finished", terminal.Second(j.Finished)}, {"after the next call, about", laterTries(j)}, {"result", resultOf(j)}, {"failure", j.Failure},
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

// inWords explains why a receiver did not take a call, where the word for it says too little.
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
