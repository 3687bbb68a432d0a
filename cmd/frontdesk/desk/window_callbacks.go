package desk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"frontdesk/gateway/webhook"
)

// How many receivers and jobs a page has.
const (
	receiverRows = 30
	jobRows      = 50
)

// callbacksView is the page of callback jobs.
type callbacksView struct {
	filters
	Now       time.Time     `json:"now"`
	Receivers []receiverRow `json:"receivers"`
	Rest      int           `json:"rest"` // jobs of receivers without a row
	Jobs      []jobRow      `json:"jobs"`
	Older     string        `json:"older,omitempty"` // address of the next page
}

// receiverRow counts the jobs of a receiver.
type receiverRow struct {
	Host    string                `json:"host"`
	States  map[webhook.State]int `json:"states"`
	Failing int                   `json:"failing"` // jobs whose call failed and will be tried again
	Oldest  *time.Time            `json:"oldest"`  // the oldest job that is not over
	NextTry *time.Time            `json:"next_try"`
}

// jobRow is a job in a list. It has only the host of the address, and no values.
type jobRow struct {
	ID       string        `json:"id"`
	State    webhook.State `json:"state"`
	Kind     string        `json:"kind"`
	Client   string        `json:"client"`
	Key      string        `json:"key"`
	Receiver string        `json:"receiver"`
	Created  time.Time     `json:"created"`
	Tries    int           `json:"tries"`
	NextTry  *time.Time    `json:"next_try"`
	Problem  string        `json:"error,omitempty"` // why the last call failed
	Cause    string        `json:"cause,omitempty"` // why there is no result
}

// jobView is the page of one job.
type jobView struct {
	filters
	jobRow
	Now      time.Time   `json:"now"`
	User     string      `json:"user"`
	Finished *time.Time  `json:"finished"`
	Pauses   []pauseRow  `json:"pauses"`
	Calls    []callRow   `json:"calls"`
	Ahead    []time.Time `json:"ahead"` // further calls, if the receiver takes none of them
}

type pauseRow struct {
	Since time.Time `json:"since"`
	Cause string    `json:"cause"`
}

// callRow is a call of the receiver.
type callRow struct {
	Number  int       `json:"try"`
	At      time.Time `json:"at"`
	Status  int       `json:"status"`
	Took    int64     `json:"took_ms"`
	Problem string    `json:"error,omitempty"`
}

func (p *pages) callbacks(c *fiber.Ctx) error {
	return p.ofJobs(c, "callbacks", func(ctx context.Context) (any, error) { return p.of.past.callbacksOf(ctx, c.Queries()) })
}

func (p *pages) job(c *fiber.Ctx) error {
	return p.ofJobs(c, "job", func(ctx context.Context) (any, error) { return p.of.past.jobOf(ctx, c.Params("id")) })
}

// ofJobs answers a page that read reads from the database.
func (p *pages) ofJobs(c *fiber.Ctx, name string, read func(context.Context) (any, error)) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), p.of.config.Backend.Timeout)
	defer cancel()
	v, err := p.inTurn(ctx, read)
	switch {
	case err == nil:
		return p.answer(c, name, v)
	case errors.Is(err, webhook.ErrUnknownJob):
		return fiber.NewError(fiber.StatusNotFound, "there is no such job: it never was, or was finished seven days ago")
	default:
		p.of.log.Warn("callback jobs cannot be read for the operators' page", zap.Error(err))
		return fiber.NewError(fiber.StatusServiceUnavailable, "callback jobs cannot be read; the log says why")
	}
}

// inTurn reads for one page at a time. Reading very many jobs may take seconds, on a connection that
// requests of clients need, too.
func (p *pages) inTurn(ctx context.Context, read func(context.Context) (any, error)) (any, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.turn }()
	return read(ctx)
}

func (p *past) callbacksOf(ctx context.Context, query map[string]string) (v callbacksView, err error) {
	now := p.of.now()
	v = callbacksView{
		filters: p.filtersOf("/callbacks", query, "failing", "state", "receiver", "client", "key", "error"),
		Now:     now, Receivers: []receiverRow{}, Jobs: []jobRow{},
	}
	f := webhook.Filter{
		State: webhook.State(query["state"]), Failing: v.IsFailing(), Client: query["client"], Key: query["key"],
		Receiver: query["receiver"], Error: query["error"], After: query["after"], Limit: jobRows,
	}
	jobs := p.of.store.jobs
	receivers, all, err := jobs.Receivers(ctx, f, receiverRows)
	if err != nil {
		return v, err
	}
	v.Rest = all
	for _, r := range receivers {
		v.Receivers = append(v.Receivers, receiverRow{r.Host, r.States, r.Failing, moment(r.Oldest), moment(r.NextTry)})
		v.Rest -= r.Jobs
	}
	found, err := jobs.List(ctx, f)
	if err != nil {
		return v, err
	}
	last, err := jobs.Last(ctx, found)
	if err != nil {
		return v, err
	}
	for _, j := range found {
		v.Jobs = append(v.Jobs, rowOf(j, last[j.ID]))
	}
	if len(found) == jobRows {
		v.Older = v.More("after", found[jobRows-1].ID)
	}
	return v, nil
}

func rowOf(j webhook.Job, last webhook.Try) jobRow {
	return jobRow{
		ID: j.ID, State: j.State, Kind: j.Work.Kind, Client: j.Owner.User.Client.Name, Key: j.Owner.Key, Receiver: j.Host(), Created: j.Created,
		Tries: j.Tries, NextTry: moment(j.NextTry), Problem: last.Problem(), Cause: j.Cause(),
	}
}

// moment returns a pointer to t; nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (p *past) jobOf(ctx context.Context, id string) (v jobView, err error) {
	j, err := p.of.store.jobs.Get(ctx, id)
	if err != nil {
		return v, err
	}
	tries, err := p.of.store.jobs.Journal(ctx, id)
	if err != nil {
		return v, err
	}
	v = jobView{
		filters: p.filtersOf("/callbacks", nil), Now: p.of.now(), User: j.Owner.User.Username,
		Finished: moment(j.Finished), Pauses: []pauseRow{}, Calls: []callRow{}, Ahead: j.Ahead(p.of.now()),
	}
	var last webhook.Try
	for _, last = range tries {
		v.Calls = append(v.Calls, callRow{last.Number, last.At, last.Status, last.Duration.Milliseconds(), last.Problem()})
	}
	v.jobRow = rowOf(j, last)
	for _, pause := range j.Pauses {
		v.Pauses = append(v.Pauses, pauseRow{pause.Since, pause.For})
	}
	return v, nil
}

// IsFailing reports whether the page shows only jobs whose receiver did not take the last call.
func (v callbacksView) IsFailing() bool { return v.set.Has("failing") }

// Both returns the address with two more filters.
func (v callbacksView) Both(name, value, other string, its any) string {
	return v.address(func(q url.Values) {
		q.Set(name, value)
		q.Set(other, fmt.Sprint(its))
	})
}

// When describes when a call is due.
func (f filters) When(now, t time.Time) string {
	if !t.After(now) {
		return "now"
	}
	return f.Clock(t) + ", " + ago(now, t)
}

// Flags returns the filters as flags of the command.
func (v callbacksView) Flags() string {
	flags := ""
	for _, set := range v.Filters() {
		switch set.Name {
		case "failing":
			flags += " --failing"
		case "receiver":
			flags += " --host=" + Quoted(set.Value)
		default:
			flags += " --" + set.Name + "=" + Quoted(set.Value)
		}
	}
	return flags
}

// Quoted quotes a value for a shell.
func Quoted(value string) string {
	if plain.MatchString(value) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)

// Later returns the calls after the next one.
func (v jobView) Later() []time.Time { return v.Ahead[min(1, len(v.Ahead)):] }

// IsOver reports whether nothing more is done for the job.
func (v jobView) IsOver() bool {
	return v.State == webhook.CalledBack || v.State == webhook.Collected || v.State == webhook.Exhausted
}
