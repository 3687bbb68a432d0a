package gateway

import (
	"net/http"

	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// severalSchema is the body of an operation that writes several records.
func (d *describer) severalSchema(op *Operation) *openapi.Schema {
	return d.component(upperFirst(op.about.name)+"Request", func() *openapi.Schema {
		records := &openapi.Schema{
			Type: openapi.Types{"array"}, MinItems: 1, MaxItems: mapping.MaxRecords, Items: d.severalItem(op),
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
		id.Minimum = ptr(1)
		s.Properties = append(openapi.Map[*openapi.Schema]{{Name: r.Fields[r.ID].Name, Value: id}}, s.Properties...)
		s.Required = append([]string{r.Fields[r.ID].Name}, s.Required...)
		return &s
	})
}
