package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config/strictyaml"
)

// healthcheckCommand asks a frontdesk on this machine how it does: where there is
// no shell and no curl, as in the container image.
type healthcheckCommand struct {
	Config  string        `placeholder:"FILE" env:"FRONTDESK_CONFIG" help:"Configuration (YAML), for ops.listen."`
	Ops     string        `placeholder:"HOST:PORT" help:"The operators' listener, in place of a configuration."`
	Alive   bool          `help:"Ask only whether it runs (/healthz), not whether it can serve (/readyz)."`
	Timeout time.Duration `default:"5s" help:"How long to wait for the answer."`
}

// Run prints the answer; an answer other than 200, or none, is a failure.
func (h healthcheckCommand) Run(p desk.Program) error {
	ops, err := h.listener(p)
	if err != nil {
		return err
	}
	path := "/readyz"
	if h.Alive {
		path = "/healthz"
	}
	ctx, cancel := context.WithTimeout(p.Ctx, h.Timeout)
	defer cancel()
	status, body, err := ops.ask(ctx, http.MethodGet, path)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, strings.TrimSpace(string(body)))
	if status != http.StatusOK {
		return fmt.Errorf("%s%s answers %d %s", ops.base, path, status, http.StatusText(status))
	}
	return nil
}

// listener is the one to ask. Of a configuration only what it says of ops has to be right.
func (h healthcheckCommand) listener(p desk.Program) (*running, error) {
	if h.Ops != "" {
		return listenerAt(h.Ops, "")
	}
	if h.Config == "" {
		return nil, desk.Misused("expected --config FILE, or --ops HOST:PORT")
	}
	c, err := desk.LoadBeside(p, h.Config, func(problem strictyaml.Problem) bool {
		return problem.File != h.Config || problem.Path != "" && !strings.HasPrefix(problem.Path, "ops")
	})
	if err != nil {
		return nil, err
	}
	if c.Ops.Listen == "" {
		return nil, desk.Misused("%s: ops.listen is empty, so there is nothing to ask", h.Config)
	}
	return listenerAt(c.Ops.Listen, string(c.Ops.Token))
}
