package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config/strictyaml"
)

// running is a running frontdesk, reached through its operators' listener or its socket.
type running struct {
	at     string // its name in messages
	base   string
	token  string // for the operators' listener
	client http.Client
}

// listenerAt returns the frontdesk whose operators' listener is at an address such as 127.0.0.1:9090. An address
// that stands for all interfaces is replaced by loopback.
func listenerAt(address, token string) (*running, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, desk.Misused("%s: expected a host and a port, such as 127.0.0.1:9090", address)
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	r := &running{at: address, base: "http://" + net.JoinHostPort(host, port), token: token}
	r.client.Transport = &http.Transport{DisableKeepAlives: true} // without a proxy: the listener is on an internal network
	return r, nil
}

// socketAt returns the frontdesk at a socket.
func socketAt(file string) *running {
	r := &running{at: desk.Absolute(file), base: "http://frontdesk"}
	r.client.Timeout = desk.SocketPatience
	r.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", file)
	}}
	return r
}

// ask requests a path, with JSON as the wanted form of the answer.
func (r *running) ask(ctx context.Context, method, path string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, r.base+path, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Accept", "application/json")
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := r.client.Do(request)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return 0, nil, fmt.Errorf("%s is for the user that frontdesk runs as, and for root: %w", r.at, fs.ErrPermission)
	case err != nil:
		return 0, nil, fmt.Errorf("no frontdesk answers at %s: does it run, and with this configuration? %w", r.at, err)
	}
	defer response.Body.Close()
	const enough = 256 << 20 // the socket may be another program's, if others can write to its folder
	body, err = io.ReadAll(io.LimitReader(response.Body, enough))
	return response.StatusCode, body, err
}

// read reads the answer of a path into a value.
func (r *running) read(ctx context.Context, method, path string, into any) error {
	status, body, err := r.ask(ctx, method, path)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("the frontdesk at %s answers %d: %s", r.at, status, terminal.Safe(strings.TrimSpace(string(body[:min(len(body), 1<<10)]))))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s does not answer as a frontdesk: %w", r.at, err)
	}
	return nil
}

// healthcheckCommand asks a frontdesk on this machine for its health, where there is no shell and no
// curl, as in the container image.
type healthcheckCommand struct {
	Config  string        `placeholder:"FILE" env:"FRONTDESK_CONFIG" help:"Configuration (YAML), for ops.listen."`
	Ops     string        `placeholder:"HOST:PORT" help:"The operators' listener, in place of a configuration."`
	Alive   bool          `help:"Ask only whether it runs (/healthz), not whether it can serve (/readyz)."`
	Timeout time.Duration `default:"5s" help:"How long to wait for the answer."`
}

// Run prints the answer. It fails if the answer is not 200, or if there is none.
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

// listener returns the operators' listener to ask. Only the ops section of a configuration has to be right.
func (h healthcheckCommand) listener(p desk.Program) (*running, error) {
	if h.Ops != "" {
		return listenerAt(h.Ops, "")
	}
	if h.Config == "" {
		return nil, desk.Misused("expected --config FILE, or --ops HOST:PORT")
	}
	c, err := desk.LoadPartly(p, h.Config, func(problem strictyaml.Problem) bool {
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
