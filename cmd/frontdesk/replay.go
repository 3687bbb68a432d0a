package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway/webhook"
)

type callbacksReplayCommand struct {
	administration
	ID string `arg:"" optional:"" help:"The job, by its id in the list. Without it, all jobs that the flags name: of these, unless --state says otherwise, those whose receiver did not take the last call."`
	jobFlags
	Yes bool `help:"Do it. Without it, it is only told how many jobs there are, unless an id names one."`
}

func (callbacksReplayCommand) Help() string {
	return "A running server makes the calls. callbacks list shows the jobs that the same flags name; those that come after they were counted are left out."
}

// Run makes callbacks due; the server that runs makes them.
func (c callbacksReplayCommand) Run(p desk.Program) error {
	now := time.Now()
	filter, said, err := c.filter(now)
	switch {
	case err != nil:
		return err
	case (c.ID == "") == (said == ""):
		return desk.Misused("expected the id of a job, or flags that say which: --failing for all whose receiver did not take the last call")
	case c.State == string(webhook.Accepted) || c.State == string(webhook.Running):
		return desk.Misused("--state %s: there is nothing to call about before a job is finished", c.State)
	}
	if c.State == "" && !c.Failing {
		filter.Failing, said = true, said+", failing"
	}
	if filter.Before.IsZero() {
		filter.Before = now // those that come meanwhile were not counted
	}
	return c.jobs(p, func(ctx context.Context, s openJobs) error {
		if c.ID != "" {
			return c.one(ctx, p, s)
		}
		return c.several(ctx, p, s, filter, said)
	})
}

func (c callbacksReplayCommand) one(ctx context.Context, p desk.Program, s openJobs) error {
	if _, err := s.Get(ctx, c.ID); err != nil {
		return s.unknown(c.ID, err)
	}
	err := acting(p.Stderr, "callbacks replay", "job "+c.ID, func() error { return webhook.Replay(ctx, s.Store, c.ID, time.Now()) })
	if err != nil {
		return s.unknown(c.ID, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "job %s is due again; a running server calls within a second\n", c.ID)
	return err
}

// several tells how many jobs a filter finds, and replays them if that is wanted.
func (c callbacksReplayCommand) several(ctx context.Context, p desk.Program, s openJobs, filter webhook.Filter, said string) error {
	_, n, err := s.Receivers(ctx, filter, 1)
	if err != nil {
		return err
	}
	if n == 0 {
		_, err := fmt.Fprintf(p.Stderr, "No callback in %s is as asked for (%s): nothing was done.\n", s.in, terminal.Safe(said))
		return err
	}
	jobs := terminal.Several(n, "job")
	if !c.Yes {
		return fmt.Errorf("nothing was done: %s would be called about again, from the first try; --yes does it", jobs)
	}
	var done, changed int
	err = acting(p.Stderr, "callbacks replay", jobs+": "+said, func() (err error) {
		done, changed, err = s.replay(ctx, filter)
		return err
	})
	if done > 0 {
		fmt.Fprintf(p.Stdout, "due again: %s; a running server begins to call within a second\n", terminal.Several(done, "job"))
	}
	if changed > 0 {
		fmt.Fprintf(p.Stdout, "left as they are: %s; the result is gone, or was fetched or called about meanwhile\n", terminal.Several(changed, "job"))
	}
	return err
}

// replayedAtOnce is how many jobs are read at once.
const replayedAtOnce = 500

// replay makes all callbacks of a filter due, newest first. A job that has changed meanwhile, and
// cannot be called about any more, is left as it is.
func (o openJobs) replay(ctx context.Context, filter webhook.Filter) (done, changed int, err error) {
	filter.Limit = replayedAtOnce
	for {
		found, err := o.List(ctx, filter)
		if err != nil || len(found) == 0 {
			return done, changed, err
		}
		for _, j := range found {
			switch err := webhook.Replay(ctx, o.Store, j.ID, time.Now()); {
			case errors.Is(err, webhook.ErrNotNow), errors.Is(err, webhook.ErrUnknownJob):
				changed++
			case err != nil:
				return done, changed, err
			default:
				done++
			}
		}
		filter.After = found[len(found)-1].ID
	}
}
