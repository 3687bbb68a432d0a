package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

// topCommand shows a running frontdesk on a terminal.
type topCommand struct {
	opsFlags
	Span  string        `enum:"10m,30m,2h,6h,24h" default:"10m" help:"Of how long the tables tell: 10m, 30m, 2h, 6h or 24h."`
	All   bool          `help:"Of all gateways that share a store of sessions, in place of the one that is asked."`
	Every time.Duration `default:"2s" help:"How often it looks again."`
	Once  bool          `help:"Look once; so it does where the output is no terminal."`
}

// topView is what top reads of the first page.
type topView struct {
	Verdict string `json:"verdict"`
	Load    struct {
		Running     int `json:"backend_running"`
		Waiting     int `json:"backend_waiting"`
		Connections int `json:"connections"`
	} `json:"load"`
	Notices []desk.Notice `json:"stands_out"`
	Past    struct {
		Gateways []desk.GatewayRow `json:"gateways"`
		Fault    string            `json:"fault"`
		Step     int               `json:"step_seconds"`
		Points   []desk.PastPoint  `json:"points"`
		Busy     []struct {
			Kind string `json:"kind"`
			Rows []struct {
				Name                      string
				Requests, Refused, Failed uint32
				P95                       time.Duration `json:"p95_ns"`
			} `json:"rows"`
			Rest uint32 `json:"rest"`
		} `json:"busiest"`
	} `json:"past"`
}

// Run looks until it is stopped.
func (c topCommand) Run(p desk.Program) error {
	ops, err := c.open(p)
	if err != nil {
		return err
	}
	begin := terminal.NewScreen(p.Stdout)
	for {
		v, err := c.look(p.Ctx, ops)
		if p.Ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var text strings.Builder
		c.write(&text, v)
		again := begin(text.String())
		if c.Once || !again {
			return nil
		}
		select {
		case <-p.Ctx.Done():
			return nil
		case <-time.After(max(c.Every, 100*time.Millisecond)):
		}
	}
}

func (c topCommand) look(ctx context.Context, ops *opsListener) (v topView, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	query := url.Values{"span": {c.Span}}
	if c.All {
		query.Set("gateways", "all")
	}
	_, body, err := ops.ask(ctx, "/?"+query.Encode())
	if err == nil && json.Unmarshal(body, &v) != nil {
		err = fmt.Errorf("%s answers something else than a frontdesk of this version", ops.base)
	}
	return v, err
}

func (c topCommand) write(w io.Writer, v topView) {
	fmt.Fprintf(w, "%s\n", v.Verdict)
	for _, n := range v.Notices {
		fmt.Fprintf(w, "%s: %s\n", terminal.Safe(n.Text), terminal.Safe(n.Command))
	}
	fmt.Fprintln(w)
	if v.Past.Fault != "" {
		fmt.Fprintf(w, "%s\n", v.Past.Fault)
	}
	for _, g := range v.Past.Gateways {
		fmt.Fprintf(w, "gateway    %s: %d requests", terminal.Safe(g.Name), g.Requests)
		switch {
		case g.Here:
			fmt.Fprint(w, ", is asked; what is now is its own")
		case !g.There:
			fmt.Fprint(w, ", has ended or is silent")
		}
		fmt.Fprintln(w)
	}
	var sum, last desk.PastPoint
	slowest := 0.0
	for i, p := range v.Past.Points {
		sum.Requests, sum.Refused, sum.Failed = sum.Requests+p.Requests, sum.Refused+p.Refused, sum.Failed+p.Failed
		slowest = max(slowest, p.Took["p95"])
		if i == len(v.Past.Points)-2 { // the last step that is whole
			last = p
		}
	}
	step := max(float64(v.Past.Step), 1)
	fmt.Fprintf(w, "last %s   %.1f requests/s, refused %.1f/s, failed %.1f/s, p95 %.1f ms, of it the backend %.1f ms\n", time.Duration(step)*time.Second,
		float64(last.Requests)/step, float64(last.Refused)/step, float64(last.Failed)/step, last.Took["p95"], last.Backend["p95"])
	fmt.Fprintf(w, "last %s   %d requests, %d refused, %d failed, p95 at most %.1f ms\n", c.Span, sum.Requests, sum.Refused, sum.Failed, slowest)
	fmt.Fprintf(w, "now        %d connections, %d backend calls, %d wait\n", v.Load.Connections, v.Load.Running, v.Load.Waiting)
	for _, busy := range v.Past.Busy {
		if len(busy.Rows) == 0 {
			continue
		}
		fmt.Fprintln(w)
		table := terminal.NewTable(w)
		fmt.Fprintf(table, "%s\trequests\trefused\tfailed\tp95, at most\n", strings.ToUpper(busy.Kind))
		for _, r := range busy.Rows {
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%.1f ms\n", terminal.Safe(r.Name), r.Requests, r.Refused, r.Failed, float64(r.P95)/float64(time.Millisecond))
		}
		if busy.Rest > 0 {
			fmt.Fprintf(table, "the rest\t%d\n", busy.Rest)
		}
		_ = table.Flush() // into memory
	}
	if len(v.Past.Busy) == 0 {
		fmt.Fprintln(w, "\nWho is served is told on the gateway's own machine, or with ops.token of the configuration (--config).")
	}
}
