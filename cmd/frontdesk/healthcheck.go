package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
)

// healthcheckCommand asks a frontdesk on this machine how it does: where there is
// no shell and no curl, as in the container image.
type healthcheckCommand struct {
	opsFlags
	Alive   bool          `help:"Ask only whether it runs (/healthz), not whether it can serve (/readyz)."`
	Timeout time.Duration `default:"5s" help:"How long to wait for the answer."`
}

// Run prints the answer; an answer other than 200, or none, is a failure.
func (h healthcheckCommand) Run(p desk.Program) error {
	ops, err := h.open(p)
	if err != nil {
		return err
	}
	path := "/readyz"
	if h.Alive {
		path = "/healthz"
	}
	ctx, cancel := context.WithTimeout(p.Ctx, h.Timeout)
	defer cancel()
	status, body, err := ops.ask(ctx, path)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, strings.TrimSpace(string(body)))
	if status != http.StatusOK {
		return fmt.Errorf("%s%s answers %d %s%s", ops.base, path, status, http.StatusText(status), unwell(body))
	}
	return nil
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
