package adopt

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"frontdesk/backend/legacy"
	"frontdesk/backend/remote"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

type explainCommand struct {
	Resource string `arg:"" help:"Resource of the interface, such as contact."`
	sheetFlags
	Operation string `enum:",get,list,create,update,delete" default:"" placeholder:"NAME" help:"get, list, create, update or delete; all where it is left out."`
}

// Run shows a resource, without connecting. Variables of the environment that
// are not set are shown by their names.
func (c explainCommand) Run(p desk.Program) error {
	file, model, zone, err := c.find()
	if err != nil {
		return err
	}
	s, err := sheet.Load(file, model, sheet.Options{RuleFields: desk.RuleFields, Zone: zone, Env: func(name string) (string, bool) {
		if v, ok := os.LookupEnv(name); ok {
			return v, true
		}
		return "http://" + strings.ToLower(strings.ReplaceAll(name, "_", "-")), true // a DSN is any text
	}})
	if err != nil {
		return err
	}
	r := s.Model.Resource(c.Resource)
	if r == nil {
		return desk.Misused("the sheet has no resource %s%s", c.Resource, strictyaml.Suggest(c.Resource, s.Model.Names()))
	}
	explain, err := explainerOf(s)
	if err != nil {
		return err
	}
	if err := c.operations(p, s, r, explain); err != nil {
		return err
	}
	if s.Source.Frontdesk == nil {
		terminal.WriteRows(p.Stdout, fieldRows(s.Resources[r]))
	}
	return nil
}

// explainer tells what an operation of a resource does.
type explainer func(*mapping.Resource, mapping.Scope) ([]string, error)

// operations shows those that were asked for.
func (c explainCommand) operations(p desk.Program, s *sheet.Sheet, r *mapping.Resource, explain explainer) error {
	wanted := mapping.RecordOperations()
	if c.Operation != "" {
		wanted = []mapping.Scope{mapping.Scope(c.Operation)}
	}
	for _, op := range wanted {
		if s.Source.Frontdesk == nil && s.Resources[r].Operations[op] == nil {
			if c.Operation != "" {
				return desk.Misused("the sheet has no %s of %s", op, r.Name)
			}
			continue
		}
		lines, err := explain(r, op)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.Stdout, "%s of %s:\n", op, r.Name)
		for _, line := range lines {
			for i, part := range terminal.Wrap(line, terminal.Width-4) {
				fmt.Fprintf(p.Stdout, "%s%s\n", []string{"  ", "    "}[min(i, 1)], part)
			}
		}
		fmt.Fprintln(p.Stdout)
	}
	return nil
}

// explainerOf tells what a driver does, without a connection.
func explainerOf(s *sheet.Sheet) (explainer, error) {
	if s.Source.SQL == nil {
		x, err := remote.Explainer(remote.Options{Sheet: s, Now: time.Now})
		if err != nil {
			return nil, err
		}
		return x.Explain, nil
	}
	x, err := legacy.Explainer(legacy.Options{Sheet: s, IDStore: forgetful{}, Now: time.Now})
	if err != nil {
		return nil, err
	}
	return x.Explain, nil
}

// forgetful stands where IDs would be kept; nothing asks it.
type forgetful struct{ legacy.IDStore }

// fieldRows tell of every field where it comes from, and how.
func fieldRows(r *sheet.Resource) [][3]string {
	rows := [][3]string{{"FIELD", "PLACE", "CONVERSION"}}
	for _, f := range mapping.Each(r.Fields) {
		place, conversion := r.Words(f)
		switch {
		case f.Readonly && len(f.Write) > 0:
			conversion += "; not from clients"
		case f.Readonly && !strings.Contains(conversion, "read only") && !strings.HasPrefix(conversion, "always") && !f.Primary:
			conversion += "; read only"
		case f.Required && !f.Primary:
			conversion += "; required"
		}
		if f.Immutable {
			conversion += "; not changed after create"
		}
		rows = append(rows, [3]string{f.Name, place, strings.TrimPrefix(conversion, "; ")})
	}
	if r.Client != "" {
		how := "the client's number, in every statement and on create"
		if r.Table == "" {
			how = "the client's number: records without it are shown to nobody"
		}
		rows = append(rows, [3]string{"(client)", r.Client, how})
	}
	if r.Through != nil {
		rows = append(rows, [3]string{"(client)", strings.Join(r.Through.From, ", "), "that of the " + r.Through.Reference + " which it refers to"})
	}
	if r.Version != "" {
		rows = append(rows, [3]string{"(version)", r.Version, "tells whether the record has been changed"})
	}
	for _, place := range r.Constants() {
		rows = append(rows, [3]string{"(constant)", place, "set on every create"})
	}
	return slices.Clip(rows)
}
