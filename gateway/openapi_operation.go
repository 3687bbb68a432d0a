package gateway

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// addOperation puts an operation at its path.
func (d *describer) addOperation(op *Operation) {
	item, ok := d.doc.Paths.Get(op.Template)
	if !ok {
		item = new(openapi.PathItem)
		d.doc.Paths.Add(op.Template, item)
	}
	d.limited, d.aging = !op.open && d.key.Bounds != (auth.Bounds{}), d.ages(op)
	if general := op.about.general; general != "" && !strings.Contains(d.doc.Info.Description, general) {
		d.doc.Info.Description += "\n\n" + general
	}
	o := &openapi.Operation{
		ID: op.about.name, Tags: []string{op.about.module}, Summary: op.about.summary, Description: d.text(op),
		Parameters: d.parameters(op), RequestBody: d.requestBody(op), Responses: d.responses(op), Deprecated: op.deprecated != nil,
	}
	if op.open {
		o.Security = &[]map[string][]string{}
	}
	if op.about.answers.form == acceptForm {
		o.Callbacks = d.callbacks(op)
	}
	item.Set(op.Method, o)
}

// ages reports whether answers of an operation may say that something is deprecated.
func (d *describer) ages(op *Operation) bool {
	goes := func(r *mapping.Resource) bool { return r.Deprecated != nil || r.HasDeprecated() }
	if strings.HasPrefix(op.Endpoint.Path, changesPath) {
		return slices.ContainsFunc(d.followable(), goes)
	}
	return op.deprecated != nil || op.Endpoint.Resource != nil && goes(op.Endpoint.Resource)
}

// text quotes the interface and adds what else to know.
func (d *describer) text(op *Operation) string {
	text := joined("\n\n", op.deprecated.String(), when(op.about.row != "", "> "+op.about.row), d.g.worded(op.about.note),
		when(op.ByCallback(), "It takes longer than a client waits: the answer comes by callback, as a file with the JSON that is answered otherwise."))
	return cmp.Or(text, op.about.summary+".")
}
