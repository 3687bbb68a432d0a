package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// severalSchema is the body of an operation that writes several records.
func (d *describer) severalSchema(op *Operation) *openapi.Schema {
	return d.component(upperFirst(op.about.name)+"Request", func() *openapi.Schema {
		records := &openapi.Schema{
			Type: openapi.Types{"array"}, MinItems: 1, MaxItems: mapping.MaxRecords, Description: "Each as the body of a request for it alone.", Items: d.severalItem(op),
		}
		s := object(mapping.SeveralField, records)
		s.Additional = ptr(false)
		if op.mayCall {
			s.Properties.Add(webhookURL, d.receiver())
		}
		if op.mustCall {
			s.Required = append(s.Required, webhookURL)
		}
		return s
	})
}

// severalItem is one of its records: that of an update names itself.
func (d *describer) severalItem(op *Operation) *openapi.Schema {
	r := op.Endpoint.Resource
	if op.Method == http.MethodPost {
		return d.createSchema(r, nil, typeName(r.Name)+"Create")
	}
	d.updateSchema(r)
	return d.component(typeName(r.Name)+"UpdateOfMany", func() *openapi.Schema {
		plain, _ := d.doc.Components.Schemas.Get(typeName(r.Name) + "Update")
		s := *plain
		id := typed(&r.Fields[r.ID])
		id.Minimum, id.Description = ptr(1), "Primary ID of the record to change."
		s.Properties = append(openapi.Map[*openapi.Schema]{{Name: r.Fields[r.ID].Name, Value: id}}, s.Properties...)
		s.Required = append([]string{r.Fields[r.ID].Name}, s.Required...)
		return &s
	})
}

// severalExamples have one record each: that of an example for it alone.
func (d *describer) severalExamples(op *Operation) openapi.Map[openapi.Example] {
	r, own := op.Endpoint.Resource, d.exampleOf(op.single)
	singles := openapi.Map[openapi.Example]{{Name: "example", Value: openapi.Example{Value: updateExample(r)}}}
	if op.Method == http.MethodPost {
		singles = d.createExamples(r)
	}
	if own.Bodies != nil {
		singles = nil
		for _, name := range slices.Sorted(maps.Keys(own.Bodies)) {
			if d.sendable(r, own.Bodies[name]) {
				singles.Add(name, openapi.Example{Value: membersOf(own.Bodies[name])})
			}
		}
	}
	for i := range singles {
		record := singles[i].Value.Value.(openapi.Map[any])
		if op.Method == http.MethodPut {
			id := own.pick("id", d.idExample(op, r))
			if id == nil {
				return nil
			}
			record = append(openapi.Map[any]{{Name: r.Fields[r.ID].Name, Value: id}}, record...)
		}
		body := openapi.Map[any]{{Name: mapping.SeveralField, Value: []any{record}}}
		if op.mustCall {
			body = append(openapi.Map[any]{{Name: webhookURL, Value: callbackField().Example}}, body...)
		}
		singles[i].Value.Value = body
	}
	return singles
}

// membersOf are the members of a JSON object, by name.
func membersOf(object json.RawMessage) openapi.Map[any] {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		panic(err) // an example of ours that is no JSON
	}
	all := openapi.Map[any]{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all.Add(name, members[name])
	}
	return all
}
