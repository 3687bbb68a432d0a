package gateway

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// utilityRoutes adds the endpoints that are not a resource.
func (g *Gateway) utilityRoutes(r *routes) {
	r.on(r.add("/util/environment", nil), "GET", &Operation{
		params: []param{named("username", "A user name, repeated in the answer.", "demo").must()}, serve: served(g.environment),
		about: about{
			name: "getEnvironment", summary: "The environment that is spoken to", module: serviceModule,
			row:     "GET /util/environment: query username; answers environment information",
			answers: answers{form: dataForm, name: "Environment", data: environmentAnswer{}},
		},
	})
	r.onItem(r.add("/model/*", nil), "GET", "name", &Operation{
		scopes: []mapping.Scope{mapping.OpGet}, serve: g.describeModel,
		about: about{
			name: "getModel", summary: "The fields of a resource, by which requests are judged", module: serviceModule,
			row: "GET model/{name}: path name; answers the model description", late: []mapping.Reason{mapping.RecordNotFound, mapping.BodyNotJSON},
			asksBackend: true, answers: answers{form: dataForm, name: "Model", data: modelAnswer{}},
		},
	})
	g.carried(r, "/empoyee/email", "GET", &Operation{
		params: worded(named("username", "Name that the employee logs in with.", "demo").must()), parse: parseUsername, serve: g.employeeEmail,
		about: about{
			name: "getEmployeeEmail", summary: "The e-mail address of an employee", module: moduleOf(g.o.Offer.Model, "employee"),
			row:   "GET /empoyee/email: query username (path spelled as the interface spells it); e-mail lookup",
			early: []mapping.Reason{mapping.UsernameMissing}, late: []mapping.Reason{mapping.VarcharInvalid, mapping.RecordNotFound}, asksBackend: true,
			answers: answers{form: recordForm, name: "EmployeeEmail", resource: g.o.Offer.Model.Resource("employee"), fields: emailFields},
		},
	})
	g.carried(r, "/document/info", "GET", &Operation{
		scopes: []mapping.Scope{mapping.OpGet}, params: []param{idParam("document").must()}, serve: g.documentInfo, parse: parseItem,
		about: about{
			name: "getDocumentInfo", summary: "A document that is kept elsewhere", module: moduleOf(g.o.Offer.Model, "document"),
			row:   "GET /document/info: document information; 403 when no external document exists",
			early: []mapping.Reason{mapping.PrimaryIDInvalid}, late: []mapping.Reason{mapping.RecordNotFound, mapping.DocumentUnavailable}, asksBackend: true,
			answers: answers{form: recordForm, name: "DocumentInfo", resource: g.o.Offer.Model.Resource("document"), fields: documentFields},
		},
	})
	g.carried(r, "/contact/checkaddress", "GET", &Operation{
		params: addressParams(), parse: parseAddress, ownOrder: true, serve: g.checkAddress, about: aboutAddress(g.o.Offer.Model),
	})
	g.vehicleRoutes(r)
}

// serviceModule groups what has to do with the service itself.
const serviceModule = "service"

// moduleOf returns the module of a resource, "" if there is no resource of that name.
func moduleOf(model *mapping.Model, resource string) string {
	if r := model.Resource(resource); r != nil {
		return r.Module
	}
	return ""
}

// The answered fields of employees and documents.
var (
	emailFields    = []string{"username", "email"}
	documentFields = []string{"id", "name", "mime_type", "size", "sha256", "external_url"}
)

type environmentAnswer struct {
	Environment string `json:"environment" example:"demo"`
	Version     string `json:"version" doc:"Of the gateway."`
	BaseURL     string `json:"base_url" doc:"Where the interface begins." example:"https://api.example.nl/webservice_v2"`
	TimeZone    string `json:"time_zone" doc:"Where a date without a time begins." example:"Europe/Amsterdam"`
	Client      string `json:"client" doc:"The client (customer) of the session." example:"Demo Garage"`
	Username    string `json:"username" doc:"As it was asked for." example:"demo"`
}

func (g *Gateway) environment(x *Exchange) {
	x.answerJSON(environmentAnswer{g.o.Environment, g.o.Version, g.o.PublicURL, g.o.Location.String(), x.client, x.Param("username")})
}

type fieldAnswer struct {
	Name       string `json:"name" example:"number"`
	Datatype   string `json:"datatype" doc:"varchar, text, timestamp, float8, int4 or bytea; of an array the resource of its elements." example:"varchar"`
	Length     *int   `json:"length" doc:"The most characters of a varchar or text." example:"20"`
	Required   bool   `json:"required"`
	Readonly   bool   `json:"readonly" doc:"Kept by the administration, and refused in requests."`
	Unique     bool   `json:"unique"`
	Primary    bool   `json:"primary" doc:"The primary ID."`
	Reference  any    `json:"reference" doc:"The resource whose ID the field holds."`
	Validation any    `json:"custom_validation" doc:"What the validation is called in errors."`
	After      any    `json:"after" doc:"The timestamp field that this one must be later than."`
	Array      bool   `json:"array"`
	// Collation is present only if texts compare in another way than by their characters.
	Collation string `json:"collation,omitempty" doc:"What the database calls the way in which these texts are equal and in order, perhaps without regard to case, accents or blanks behind; unknown if nobody knows." example:"utf8mb4_unicode_ci"`
	// NotFilterableBy is present only if the administration cannot filter in each way that there
	// is for the datatype.
	NotFilterableBy []string `json:"not_filterable_by,omitempty" doc:"The filters that lists do not take, such as gte."`

	Deprecated *deprecationAnswer `json:"deprecated,omitempty" doc:"The field is going away."`
}

type modelAnswer struct {
	Name string `json:"name" example:"order"`
	// An administration that describes its resources itself has its own members.
	PrimaryID string        `json:"primary_id" example:"id" may:"lack"`
	Fields    []fieldAnswer `json:"fields" may:"lack"`
	Changes   string        `json:"changes" may:"lack" doc:"What GET /changes tells of the resource: all, without deletions, or none." example:"all"`

	Deprecated *deprecationAnswer    `json:"deprecated,omitempty" doc:"All of the resource is going away."`
	Operations []deprecatedOperation `json:"deprecated_operations,omitempty" doc:"Those of its operations that are going away."`
}

// textOrNull returns a text, or nil if it is empty: null in JSON.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// describeField describes a field as the caller may use it.
func (x *Exchange) describeField(f *mapping.Field) fieldAnswer {
	a := fieldAnswer{
		Name: f.Name, Datatype: f.Type.String(), Required: f.Required && f.Withheld&mapping.InCreates == 0, Readonly: f.Readonly || f.Withheld == mapping.InCreates|mapping.InUpdates, Unique: f.Unique,
		Primary: f.Primary, Reference: textOrNull(f.Reference), Validation: textOrNull(f.Validation()),
		After: textOrNull(f.After), Array: f.Type == mapping.Array,
	}
	a.Deprecated = answerDeprecation(f.Deprecated)
	if f.Length > 0 {
		a.Length = &f.Length
	}
	whole := *f // as it would be if the administration could filter in every way
	whole.Unfiltered, whole.Length = 0, 0
	for _, o := range mapping.AllOperators {
		if f.Filterable() && whole.FilterableBy(o) && !f.FilterableBy(o) {
			a.NotFilterableBy = append(a.NotFilterableBy, o.String())
		}
	}
	if f.Type == mapping.Array {
		a.Datatype, a.Reference = f.ArrayOf, f.ArrayOf
		a.Readonly = a.Readonly || !x.knows(f, arraySend)
	}
	return a
}

// describeFields describes the fields of an offered resource that the caller may use; whole reports
// whether these are all fields.
func (x *Exchange) describeFields(offer backend.Offer, resource *mapping.Resource) (fields []fieldAnswer, whole bool) {
	if resource == nil {
		return nil, true
	}
	whole = true
	for _, f := range mapping.Each(resource.Fields) {
		array := f.Type == mapping.Array
		whole = whole && (!array || x.knows(f, arrayRead) && x.knows(f, arraySend))
		if !array || x.knows(f, arrayKnown) {
			a := x.describeField(f)
			if offer.Collation != nil && f.IsText() {
				a.Collation = offer.Collation(resource, f)
			}
			fields = append(fields, a)
		}
	}
	return fields, whole
}

// describeModel answers with the model that requests are validated by, unless the backend
// describes its resources itself.
func (g *Gateway) describeModel(ctx context.Context, x *Exchange) error {
	own, err := g.backend.DescribeModel(ctx, x.Item)
	if err != nil {
		return err
	}
	if own != nil {
		if v := jsontext.Value(own); v.Kind() != '{' || !v.IsValid() {
			return mapping.Fail(mapping.BodyNotJSON)
		}
	}
	resource := g.o.Offer.Model.Resource(x.Item)
	fields, whole := x.describeFields(g.o.Offer, resource)
	switch {
	case own != nil && whole: // the backend describes all fields, and the caller may see all
		x.answerData(func(dst []byte) []byte { return append(dst, own...) })
		return nil
	case resource == nil:
		return mapping.Fail(mapping.RecordNotFound, mapping.Literal("name"), x.Item)
	}
	x.answerJSON(modelAnswer{
		Name: resource.Name, PrimaryID: resource.Fields[resource.ID].Name, Fields: fields, Changes: string(g.o.Offer.Feed(resource)),
		Deprecated: answerDeprecation(resource.Deprecated), Operations: x.deprecatedOperations(resource),
	})
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
	username, fields := employee.Field("username"), indexes(employee, emailFields)
	value, bad := username.Parse(x.Param("username"), g.o.Location)
	if bad != nil {
		return bad
	}
	page, err := g.backend.List(ctx, employee, backend.Query{
		Client: x.user().Client, Limit: 1, Fields: fields, Decides: true,
		Filters: []backend.Filter{{Field: username, Value: value}},
	})
	if err != nil {
		return err
	}
	if len(page.Records) == 0 {
		return mapping.Fail(mapping.RecordNotFound, mapping.Literal("username"), x.Param("username"))
	}
	x.answerData(func(dst []byte) []byte { return page.Records[0].AppendJSON(dst, fields) })
	return nil
}

// indexes returns the places of fields in a record.
func indexes(r *mapping.Resource, names []string) (all []int) {
	for _, name := range names {
		all = append(all, r.Field(name).Index)
	}
	return all
}

func (g *Gateway) documentInfo(ctx context.Context, x *Exchange) error {
	document := g.o.Offer.Model.Resource("document")
	fields := indexes(document, documentFields)
	rec, err := g.backend.Get(ctx, document, backend.Query{Client: x.user().Client, ID: x.ID, Fields: fields})
	if err != nil {
		return err
	}
	if rec.Get("external_url").IsEmpty() {
		return mapping.Fail(mapping.DocumentUnavailable)
	}
	x.answerData(func(dst []byte) []byte { return rec.AppendJSON(dst, fields) })
	return nil
}
