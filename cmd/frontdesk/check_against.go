package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// changeReport is what a configuration would change of the one in force.
type changeReport struct {
	Running     string              `json:"config"` // the hash of the one in force
	Differences []config.Difference `json:"differences"`
	NotCompared []string            `json:"not_compared"` // settings of which both have a secret
	Waiting     []string            `json:"needs_restart"`
	same        bool                // both have the same hash
}

// changeOf asks a running gateway for its configuration. Its token is that of the configuration
// that is checked.
func changeOf(ctx context.Context, url string, c *config.Config) (*changeReport, error) {
	gateway, err := listenerAt(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"), string(c.Ops.Token))
	if err != nil {
		return nil, err
	}
	var running desk.Running
	if err := gateway.read(ctx, http.MethodGet, "/config", &running); err != nil {
		return nil, err
	}
	endpoints, err := desk.Endpoints(c)
	if err != nil {
		return nil, err
	}
	differences, secret := config.Differences(running.Settings, c.Settings(), endpoints)
	return &changeReport{
		Running: running.Config, Differences: append([]config.Difference{}, differences...), NotCompared: append([]string{}, secret...),
		Waiting: running.Waiting, same: running.Config == c.Hash(),
	}, nil
}

// write tells people what would change.
func (r *changeReport) write(w io.Writer) {
	switch {
	case r.same:
		fmt.Fprintln(w, "It is the one in force.")
	case len(r.Differences) == 0:
		fmt.Fprintf(w, "It means the same as the one in force, %s, which is written otherwise or has other secrets.\n", r.Running)
	default:
		fmt.Fprintf(w, "It would change the one in force, %s:\n", r.Running)
	}
	for _, d := range r.Differences {
		line := d.Text
		if d.Key != "" {
			line = d.Key + " " + line
		}
		if d.Restart {
			line += " (after a restart)"
		}
		fmt.Fprintf(w, "  %s\n", terminal.Safe(line))
	}
	if !r.same && len(r.NotCompared) > 0 {
		fmt.Fprintf(w, "Not compared, since both have a secret: %s.\n", terminal.Safe(strings.Join(r.NotCompared, ", ")))
	}
	for _, setting := range r.Waiting {
		fmt.Fprintf(w, "The gateway waits for a restart with %s\n", terminal.Safe(setting))
	}
}
