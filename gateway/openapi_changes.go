package gateway

import (
	"frontdesk/backend"
	"frontdesk/gateway/openapi"
)

// followableNames is the schema of the name of a resource that the api_key may follow.
func (d *describer) followableNames() *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"string"}}
	for _, r := range d.followable() {
		s.Enum = append(s.Enum, r.Name)
	}
	return s
}

// followableParameter describes a parameter that names such a resource, or several.
func (d *describer) followableParameter(q *openapi.Parameter, p param) *openapi.Parameter {
	example := d.followable()[0].Name
	if p.choice == nil {
		q.Schema = d.followableNames()
		d.exemplify(q, example)
		return q
	}
	var names []string
	for _, r := range d.followable() {
		names = append(names, r.Name)
	}
	q.Schema = listOf("", names)
	q.Schema.Examples = []any{example}
	return q
}

func (d *describer) changesAnswer() *openapi.Schema {
	return d.component("ChangesPage", func() *openapi.Schema {
		text := func(description string) *openapi.Schema {
			return &openapi.Schema{Type: openapi.Types{"string"}, Description: description}
		}
		record := &openapi.Schema{Description: "Only with records=1: the record as a list answers it; null where it is deleted.", AnyOf: []*openapi.Schema{{Type: openapi.Types{"null"}}}}
		for _, r := range d.followable() {
			record.AnyOf = append(record.AnyOf, d.wholeRecord(r, true))
		}
		kind := text("What became of the record since the last page; deleted too where the client may no longer see it.")
		kind.Enum = []any{string(backend.RecordCreated), string(backend.RecordUpdated), string(backend.RecordDeleted)}
		at := text("When.")
		at.Format, at.Pattern = "date-time", answeredTimestamp
		change := &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"resource", "id", "kind", "at"}, Properties: openapi.Map[*openapi.Schema]{
			{Name: "resource", Value: d.followableNames()},
			{Name: "id", Value: &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32", Minimum: ptr(1)}},
			{Name: "kind", Value: kind}, {Name: "at", Value: at}, {Name: "record", Value: record},
		}}
		return &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"data", "cursor", "more", "next"}, Properties: openapi.Map[*openapi.Schema]{
			{Name: "data", Value: &openapi.Schema{Type: openapi.Types{"array"}, Items: change}},
			{Name: "cursor", Value: text("What the next after is. It says nothing by itself, and is good only for this client.")},
			{Name: "more", Value: &openapi.Schema{Type: openapi.Types{"boolean"}, Description: "There are changes after the cursor already."}},
			{Name: "next", Value: nullable(text("Path and query of the page that follows; null where there is none yet."))},
		}}
	})
}
