package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config/strictyaml"
)

// healthcheckCommand asks a frontdesk on this machine how it does: where there is
// no shell and no curl, as in the container image.
type healthcheckCommand struct {
	Config  string        `placeholder:"FILE" help:"Configuration (YAML), for ops.listen." xor:"whom"`
	Ops     string        `placeholder:"HOST:PORT" help:"The operators' listener, in place of a configuration." xor:"whom"`
	Alive   bool          `help:"Ask only whether it runs (/healthz), not whether it can serve (/readyz)."`
	Timeout time.Duration `default:"5s" help:"How long to wait for the answer."`
}

// Run prints the answer; an answer other than 200, or none, is a failure.
func (h healthcheckCommand) Run(p desk.Program) error {
	address := h.Ops
	switch {
	case h.Config != "":
		c, err := desk.LoadBeside(p, h.Config, func(problem strictyaml.Problem) bool {
			return problem.File != h.Config || problem.Path != "" && !strings.HasPrefix(problem.Path, "ops")
		})
		if err != nil {
			return err
		}
		if address = c.Ops.Listen; address == "" {
			return desk.Misused("%s: ops.listen is empty, so there is nothing to ask", h.Config)
		}
	case address == "":
		return desk.Misused("expected --config FILE, or --ops HOST:PORT")
	}
	url, err := healthURL(address, h.Alive)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.Ctx, h.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy: it is this machine that is asked
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no frontdesk answers at %s: does it run, and with this address under ops.listen? %w", address, err)
	}
	defer response.Body.Close()
	const enough = 64 << 10
	body, err := io.ReadAll(io.LimitReader(response.Body, enough))
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, strings.TrimSpace(string(body)))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s%s", url, response.Status, unwell(body))
	}
	return nil
}

// healthURL is where to ask. A listener on every address is asked on loopback.
func healthURL(address string, alive bool) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", desk.Misused("%s: expected a host and a port, such as 127.0.0.1:9090", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if at, err := netip.ParseAddr(host); err == nil && at.IsUnspecified() {
		host = "127.0.0.1"
		if at.Is6() {
			host = "::1"
		}
	}
	path := "/readyz"
	if alive {
		path = "/healthz"
	}
	return "http://" + net.JoinHostPort(host, port) + path, nil
}

// unwell names the members of an answer that say something else than ok.
func unwell(body []byte) string {
	var answer map[string]any
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	var names []string
	for name, value := range answer {
		if text, ok := value.(string); ok && text != "ok" && text != "closed" && name != "status" {
			names = append(names, name+" "+text)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return ": " + strings.Join(names, ", ")
}
