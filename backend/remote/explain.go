package remote

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Explain returns, line by line, what is sent for an operation, and where the record is in the
// answer. Values appear as the placeholders they replace, secrets too. It needs no connection:
// Explainer makes a Store for it.
func (s *Store) Explain(r *mapping.Resource, op mapping.Scope) ([]string, error) {
	lines := s.explain(r, op)
	if lines == nil {
		return nil, fmt.Errorf("there is no %s of %s", op, r.Name)
	}
	return lines, nil
}

// Explainer returns a Store that can only Explain. It assumes that a service that speaks the
// protocol has every operation, since it does not ask.
func Explainer(o Options) (*Store, error) {
	c := newCore(o)
	if o.Sheet.Source.Frontdesk == nil {
		sp, err := openService(c)
		return &Store{core: c, speaker: sp}, err
	}
	a := &adapter{o: c, about: description{Resources: map[string]resourceDescription{}}}
	for _, r := range o.Sheet.Model.Resources {
		a.about.Resources[r.Name] = resourceDescription{mapping.RecordOperations()}
	}
	return &Store{core: c, speaker: a}, nil
}

func (a *adapter) explain(r *mapping.Resource, op mapping.Scope) []string {
	if !a.Supports(r, op) {
		return nil
	}
	address := a.o.Sheet.Source.Frontdesk.URL + "/v1/records/" + r.Name
	call := map[mapping.Scope]string{
		mapping.OpGet: "GET " + address + "/{id}", mapping.OpList: "GET " + address + "?limit={limit}&offset={offset}&filter.FIELD={value}",
		mapping.OpCreate: "POST " + address, mapping.OpUpdate: "PATCH " + address + "/{id}", mapping.OpDelete: "DELETE " + address + "/{id}",
	}[op]
	return []string{call, "Frontdesk-Client: {client.id}"}
}

func (s *service) explain(m *mapping.Resource, scope mapping.Scope) []string {
	r := s.resources[m]
	if r == nil {
		return nil
	}
	at := r.slots()[scope]
	if at == nil || *at == nil {
		return nil
	}
	op := *at
	placeholder := func(name string) sheet.Raw { return sheet.Raw{Kind: sheet.RawText, Text: "{" + name + "}"} }
	shown := sheet.Values{Shown: true, Get: placeholder, List: func(name string) []sheet.Raw { return []sheet.Raw{placeholder(name)} }}
	if scope == mapping.OpCreate || scope == mapping.OpUpdate {
		fields := r.shownFields()
		if scope == mapping.OpCreate {
			fields = append(r.ShownConstants(), fields...)
		}
		shown.Fields = s.body(op, fields)
		shown.Rows = func(array string) ([][]sheet.Assignment, bool) {
			i := slices.IndexFunc(r.elements, func(e elements) bool { return r.Fields[e.field].Name == array })
			return [][]sheet.Assignment{r.elements[i].of.shownFields()}, true
		}
	}
	c, err := op.Request.Build(shown)
	if err != nil {
		return []string{"cannot be shown: " + err.Error()}
	}
	lines := []string{c.Method + " " + s.source.URL + unescapeBraces(c.Target)}
	headers := c.Headers
	for _, q := range []*sheet.Request{s.source.Headers, s.logOnHeaders()} {
		if q != nil {
			headers, _ = q.AppendHeaders(headers, shown) // what it refuses is left out
		}
	}
	for _, h := range headers {
		lines = append(lines, h[0]+": "+h[1])
	}
	if len(c.Body) > 0 {
		lines = append(lines, string(c.Body))
	}
	if op.Request.Fresh {
		lines = append(lines, "over a connection of its own")
	}
	lines = append(lines, r.shownAnswer(op)...)
	for i := range lines {
		for name, secret := range s.source.Secrets {
			if secret != "" {
				lines[i] = strings.ReplaceAll(lines[i], string(secret), "{secret."+name+"}")
			}
		}
	}
	return lines
}

func (s *service) logOnHeaders() *sheet.Request {
	if s.source.LogOn == nil {
		return nil
	}
	return s.source.LogOn.Headers
}

// shownFields are all fields that can be written, with their names as values.
func (r *resource) shownFields() []sheet.Assignment {
	var fields []sheet.Assignment
	for _, f := range mapping.Each(r.Fields) {
		for _, place := range f.Write {
			if place == r.Client || slices.ContainsFunc(fields, func(a sheet.Assignment) bool { return a.Place == place }) {
				continue
			}
			fields = append(fields, sheet.Assignment{Place: place, Value: sheet.Raw{Kind: sheet.RawText, Text: "{" + f.Name + "}"}, Field: f.Field})
		}
		fields = append(fields, f.Beside()...)
	}
	return fields
}

// shownAnswer says where in the answer the values are.
func (r *resource) shownAnswer(op *operation) []string {
	at := func(path string) string {
		if path == "" {
			return "the answer itself"
		}
		return path
	}
	var lines []string
	switch {
	case op.scope == mapping.OpDelete:
		return nil
	case len(op.Key) > 0:
		lines = append(lines, "the key is at "+strings.Join(op.Key, ", ")+"; then the record is read")
	case op.Nothing:
		lines = append(lines, "the answer tells nothing; then the record is read")
	case op.scope == mapping.OpList:
		lines = append(lines, fmt.Sprintf("the records are at %s, paged by %s", at(op.Result), op.Paging.Style))
		if op.Sort != nil {
			lines = append(lines, "sorted by any of "+strings.Join(op.Sort.Fields(), ", "))
		}
	default:
		lines = append(lines, "the record is at "+at(op.Result))
	}
	if op.scope != mapping.OpGet {
		return lines
	}
	for _, f := range mapping.Each(r.Fields) {
		switch {
		case f.Children != "":
			lines = append(lines, "  "+f.Name+" ← "+f.Children)
		case len(f.From) > 0:
			lines = append(lines, "  "+f.Name+" ← "+strings.Join(f.From, ", "))
		}
	}
	return lines
}

func unescapeBraces(s string) string {
	return strings.NewReplacer("%7B", "{", "%7D", "}").Replace(s)
}
