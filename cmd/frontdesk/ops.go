package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config/strictyaml"
)

// opsFlags say which running frontdesk a command asks.
type opsFlags struct {
	Config string `placeholder:"FILE" help:"Configuration (YAML), for ops.listen." xor:"whom"`
	Ops    string `placeholder:"HOST:PORT" help:"The operators' listener, in place of a configuration." xor:"whom"`
}

// opsListener is that of a running frontdesk.
type opsListener struct {
	address, base string
	token         string
	client        http.Client
}

// open finds out where to ask. Of a configuration only what it says of ops has to be right.
func (f opsFlags) open(p desk.Program) (*opsListener, error) {
	o := &opsListener{address: f.Ops}
	switch {
	case f.Config != "":
		c, err := desk.LoadBeside(p, f.Config, func(problem strictyaml.Problem) bool {
			return problem.File != f.Config || problem.Path != "" && !strings.HasPrefix(problem.Path, "ops")
		})
		if err != nil {
			return nil, err
		}
		if o.address = c.Ops.Listen; o.address == "" {
			return nil, desk.Misused("%s: ops.listen is empty, so there is nothing to ask", f.Config)
		}
		o.token = string(c.Ops.Token)
	case o.address == "":
		return nil, desk.Misused("expected --config FILE, or --ops HOST:PORT")
	}
	return o, o.locate()
}

// locate finds out the address of the listener's pages.
func (o *opsListener) locate() error {
	host, port, err := net.SplitHostPort(o.address)
	if err != nil {
		return desk.Misused("%s: expected a host and a port, such as 127.0.0.1:9090", o.address)
	}
	o.base = "http://" + net.JoinHostPort(askedAt(host), port)
	o.client.Transport = &http.Transport{DisableKeepAlives: true} // and no proxy: it is an operator's machine that is asked
	return nil
}

// askedAt is the host to ask: loopback for a listener on every address.
func askedAt(host string) string {
	if host == "" {
		return "127.0.0.1"
	}
	if at, err := netip.ParseAddr(host); err == nil && at.IsUnspecified() {
		if at.Is6() {
			return "::1"
		}
		return "127.0.0.1"
	}
	return host
}

// ask returns the answer of a path, as programs get it.
func (o *opsListener) ask(ctx context.Context, path string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+path, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Accept", "application/json")
	if o.token != "" {
		request.Header.Set("Authorization", "Bearer "+o.token)
	}
	response, err := o.client.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("no frontdesk answers at %s: does it run, and with this address under ops.listen? %w", o.address, err)
	}
	defer response.Body.Close()
	const enough = 64 << 20 // a configuration of many thousand api_keys
	body, err = io.ReadAll(io.LimitReader(response.Body, enough))
	return response.StatusCode, body, err
}
