package gateway

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// utilityRoutes are the endpoints that are no resource of their own.
func (g *Gateway) utilityRoutes(r *routes) {
	r.on(r.add("/util/environment", nil), "GET", &Operation{
		takes: oneOf("username"), serve: served(g.environment),
		parse: func(x *Exchange) mapping.Violations { return required(x, "username") },
	})
	r.onItem(r.add("/model/*", nil), "GET", "name", &Operation{
		scopes: []mapping.Scope{mapping.OpGet}, serve: g.describeModel,
	})
	g.carried(r, "/empoyee/email", "GET", &Operation{
		takes: oneOf("username"), parse: parseUsername, serve: g.employeeEmail,
	})
	g.carried(r, "/document/info", "GET", &Operation{
		scopes: []mapping.Scope{mapping.OpGet}, takes: oneOf("id"), serve: g.documentInfo,
		parse: func(x *Exchange) mapping.Violations {
			if x.Param("id") == "" {
				return required(x, "id")
			}
			return parseItem(x)
		},
	})
	g.carried(r, "/contact/checkaddress", "GET", &Operation{
		takes: oneOf("Postcode", "Huisnummer", "toevoeging", "CountryId"), parse: parseAddress, ownOrder: true, serve: g.checkAddress,
	})
	g.vehicleRoutes(r)
}

func (g *Gateway) environment(x *Exchange) {
	x.answerJSON(struct {
		Environment string `json:"environment"`
		Version     string `json:"version"`
		BaseURL     string `json:"base_url"`
		TimeZone    string `json:"time_zone"`
		Client      string `json:"client"`
		Username    string `json:"username"`
	}{g.o.Environment, g.o.Version, g.o.PublicURL, g.o.Location.String(), x.client, x.Param("username")})
}

type fieldAnswer struct {
	Name       string `json:"name"`
	Datatype   string `json:"datatype"`
	Length     *int   `json:"length"`
	Required   bool   `json:"required"`
	Readonly   bool   `json:"readonly"`
	Unique     bool   `json:"unique"`
	Primary    bool   `json:"primary"`
	Reference  any    `json:"reference"`
	Validation any    `json:"custom_validation"`
	After      any    `json:"after"`
	Array      bool   `json:"array"`
	// Filterable and Sortable are there where the administration cannot do what
	// lists otherwise do with every scalar field.
	Filterable *bool `json:"filterable,omitempty"`
	Sortable   *bool `json:"sortable,omitempty"`
}

// textOrNull is a text as JSON answers it where there may be none.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func describeField(f *mapping.Field) fieldAnswer {
	a := fieldAnswer{
		Name: f.Name, Datatype: f.Type.String(), Required: f.Required, Readonly: f.Readonly, Unique: f.Unique,
		Primary: f.Primary, Reference: textOrNull(f.Reference), Validation: textOrNull(f.Validation()),
		After: textOrNull(f.After), Array: f.Type == mapping.Array,
	}
	if f.Length > 0 {
		a.Length = &f.Length
	}
	if f.InLists() && f.Unfilterable {
		a.Filterable = new(bool)
	}
	if f.InLists() && f.Unsortable {
		a.Sortable = new(bool)
	}
	if f.Type == mapping.Array {
		a.Datatype, a.Reference = f.ArrayOf, f.ArrayOf
	}
	return a
}

// describeModel answers the very model that validates, unless the backend
// describes its resources itself.
func (g *Gateway) describeModel(ctx context.Context, x *Exchange) error {
	own, err := g.o.Backend.DescribeModel(ctx, x.Item)
	if err != nil {
		return err
	}
	if own != nil {
		if v := jsontext.Value(own); v.Kind() != '{' || !v.IsValid() {
			return mapping.Fail(mapping.BodyNotJSON)
		}
		x.answerData(func(dst []byte) []byte { return append(dst, own...) })
		return nil
	}
	resource := g.o.Offer.Model.Resource(x.Item)
	if resource == nil {
		return mapping.Fail(mapping.RecordNotFound, mapping.Literal("name"), x.Item)
	}
	fields := make([]fieldAnswer, len(resource.Fields))
	for i := range resource.Fields {
		fields[i] = describeField(&resource.Fields[i])
	}
	x.answerJSON(struct {
		Name      string        `json:"name"`
		PrimaryID string        `json:"primary_id"`
		Fields    []fieldAnswer `json:"fields"`
	}{resource.Name, resource.Fields[resource.ID].Name, fields})
	return nil
}

func parseUsername(x *Exchange) mapping.Violations {
	if x.Param("username") == "" {
		return mapping.Violations{mapping.Fail(mapping.UsernameMissing)}
	}
	return nil
}

func (g *Gateway) employeeEmail(ctx context.Context, x *Exchange) error {
	employee := g.o.Offer.Model.Resource("employee")
	username, email := employee.Field("username"), employee.Field("email")
	value, bad := username.Parse(x.Param("username"), g.o.Location)
	if bad != nil {
		return bad
	}
	page, err := g.o.Backend.List(ctx, employee, backend.Query{
		Client: x.user().Client, Limit: 1, Fields: []int{username.Index, email.Index},
		Filters: []backend.Filter{{Field: username, Value: value}},
	})
	if err != nil {
		return err
	}
	if len(page.Records) == 0 {
		return mapping.Fail(mapping.RecordNotFound, mapping.Literal("username"), x.Param("username"))
	}
	rec := page.Records[0]
	x.answerData(func(dst []byte) []byte { return rec.AppendJSON(dst, []int{username.Index, email.Index}) })
	return nil
}

func (g *Gateway) documentInfo(ctx context.Context, x *Exchange) error {
	document := g.o.Offer.Model.Resource("document")
	var fields []int
	for _, name := range []string{"id", "name", "mime_type", "size", "sha256", "external_url"} {
		fields = append(fields, document.Field(name).Index)
	}
	rec, err := g.o.Backend.Get(ctx, document, backend.Query{Client: x.user().Client, ID: x.ID, Fields: fields})
	if err != nil {
		return err
	}
	if rec.Get("external_url").IsEmpty() {
		return mapping.Fail(mapping.DocumentUnavailable)
	}
	x.answerData(func(dst []byte) []byte { return rec.AppendJSON(dst, fields) })
	return nil
}
