package gateway

import (
	"frontdesk/backend"
	"frontdesk/gateway/openapi"
)

// toldNames is the schema of the name of a resource of which the api_key may be told.
func (d *describer) toldNames() *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"string"}}
	for _, r := range d.told() {
		s.Enum = append(s.Enum, r.Name)
	}
	return s
}

// tellingParameter describes a parameter that names such a resource, or several.
func (d *describer) tellingParameter(q *openapi.Parameter, p param) *openapi.Parameter {
	q.Schema = d.toldNames()
	example := any(nil)
	if names := d.told(); len(names) > 0 {
		example = names[0].Name
	}
	if p.choice != nil {
		var names []string
		for _, r := range d.told() {
			names = append(names, r.Name)
		}
		q.Schema = listOf("", names)
		if example != nil {
			q.Schema.Examples = []any{example}
		}
		return q
	}
	d.exemplify(q, example)
	return q
}

func (d *describer) changesAnswer() *openapi.Schema {
	return d.component("ChangesPage", func() *openapi.Schema {
		text := func(description string) *openapi.Schema {
			return &openapi.Schema{Type: openapi.Types{"string"}, Description: description}
		}
		record := &openapi.Schema{Description: "Only with records=1: the record as a list answers it; null where it is deleted.", AnyOf: []*openapi.Schema{{Type: openapi.Types{"null"}}}}
		for _, r := range d.told() {
			record.AnyOf = append(record.AnyOf, d.recordSchema(r))
		}
		kind := text("What became of the record since the last page; deleted too where the client may no longer see it.")
		kind.Enum = []any{string(backend.RecordCreated), string(backend.RecordUpdated), string(backend.RecordDeleted)}
		at := text("When.")
		at.Format, at.Pattern = "date-time", answeredTimestamp
		change := &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"resource", "id", "kind", "at"}, Properties: openapi.Map[*openapi.Schema]{
			{Name: "resource", Value: d.toldNames()},
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

func (d *describer) digestAnswer() *openapi.Schema {
	return d.component("Digest", func() *openapi.Schema {
		number := func(description string) *openapi.Schema {
			return &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32", Description: description}
		}
		digest := &openapi.Schema{Type: openapi.Types{"string"}, Pattern: "^[0-9a-f]{64}$", Description: "SHA-256 over a line of each record, in the order of their ids: its id, a blank, its modified_at as it is answered, and a line feed."}
		one := &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"from", "to", "count", "digest"}, Properties: openapi.Map[*openapi.Schema]{
			{Name: "from", Value: number("The first id of the range.")}, {Name: "to", Value: number("The last id of the range.")},
			{Name: "count", Value: number("How many records the client has in it.")}, {Name: "digest", Value: digest},
		}}
		return &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{"data", "cursor"}, Properties: openapi.Map[*openapi.Schema]{
			{Name: "data", Value: &openapi.Schema{Type: openapi.Types{"array"}, Items: one}},
			{Name: "cursor", Value: &openapi.Schema{Type: openapi.Types{"string"}, Description: "Changes after it may not be in the sums: an after of /changes."}},
		}}
	})
}
