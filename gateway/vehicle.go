package gateway

import (
	"context"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// vehicleRoutes adds the operations on a vehicle besides storing it.
func (g *Gateway) vehicleRoutes(r *routes) {
	identified := mapping.NewForm("vehicle identification", idParam("vehicle").Field)
	vehicle := g.o.Offer.Model.Resource("vehicle")
	const start, stop, plate = "/vehicle/publishstart", "/vehicle/publishstop", "/updatelicenseplate"
	publishing := []mapping.Reason{mapping.PublishFieldRequired, mapping.AdvertisementSiteRequired}
	g.carried(r, start, "PUT", vehicleOperation(identified, mapping.OpUpdate, g.idempotently(g.publishStart, g.keptChanged), about{
		name: "publishVehicle", summary: "Start publishing a vehicle",
		row:     "PUT /vehicle/publishstart: vehicle identification; starts publishing",
		answers: answers{form: recordForm, resource: vehicle}, late: publishing,
	}))
	g.carried(r, start, "GET", vehicleOperation(identified, mapping.OpGet, g.judgePublish, about{
		name: "checkPublishVehicle", summary: "Judge whether a vehicle can be published",
		row: "GET /vehicle/publishstart: vehicle identification; same validation as the PUT", late: publishing,
	}))
	g.carried(r, stop, "PUT", vehicleOperation(identified, mapping.OpUpdate, g.idempotently(g.publishStop, g.keptChanged), about{
		name: "unpublishVehicle", summary: "Stop publishing a vehicle",
		note:    "A published vehicle cannot be deleted; publishing must be stopped first.",
		answers: answers{form: recordForm, resource: vehicle},
	}))
	if !g.o.Offer.Carries(plate) {
		return
	}
	for _, method := range [...]string{"PUT", "POST"} {
		g.carried(r, plate, method, &Operation{
			scopes: []mapping.Scope{mapping.OpUpdate}, form: g.plateForm(), idempotent: method == "POST",
			check: checkPlate, conditional: true, serve: g.idempotently(g.changePlate, g.keptChanged),
			about: about{
				name: map[string]string{"PUT": "updateLicensePlate", "POST": "changeLicensePlate"}[method], summary: "Give a vehicle another license plate",
				row: "/updatelicenseplate: vehicle license plate change; the only way to change license_plate", module: vehicle.Module,
				answers: answers{form: recordForm, resource: vehicle}, asksBackend: true,
				early: []mapping.Reason{mapping.PrimaryIDInvalid, mapping.PrimaryIDMissing, mapping.FieldRequired},
				late: []mapping.Reason{
					mapping.RecordNotFound, mapping.PreconditionChanged, mapping.SystemRecord, mapping.BlockedRecord, mapping.ArchivedRecord,
					mapping.ValidationFailed, mapping.DuplicateValue,
				},
			},
		})
	}
}

// vehicleOperation takes a vehicle's id in the query or in the body.
func vehicleOperation(form *mapping.Resource, scope mapping.Scope, serve stage, a about) *Operation {
	a.module, a.asksBackend = "vehicles", true
	a.note = strings.TrimSpace(a.note + " The vehicle is named by `id` in the query or in the body.")
	a.early = []mapping.Reason{mapping.PrimaryIDInvalid, mapping.PrimaryIDMissing}
	a.late = append(a.late, mapping.RecordNotFound, mapping.PreconditionChanged, mapping.SystemRecord, mapping.BlockedRecord, mapping.ArchivedRecord)
	id := idParam("vehicle")
	id.Required, id.worded, id.bodyToo = scope == mapping.OpGet, true, scope != mapping.OpGet
	op := &Operation{
		about: a, scopes: []mapping.Scope{scope}, params: []param{id}, parse: parseItem, form: form, bodyOptional: true,
		conditional: true, serve: serve, check: checkUpdate,
	}
	if scope == mapping.OpGet { // a GET without an id lacks a parameter, not a body
		op.about.early = append(op.about.early, mapping.ParametersRequired)
		op.bodyFirst = true
		op.parse = func(x *Exchange) mapping.Violations {
			if x.Param("id") == "" && isBlank(x.sent) {
				return required(x, "id")
			}
			return parseItem(x)
		}
	}
	return op
}

func (g *Gateway) publishStart(ctx context.Context, x *Exchange, w backend.Write) (mapping.Record, error) {
	return g.backend.PublishStart(ctx, x.user().Client, x.ID, false, w)
}

func (g *Gateway) judgePublish(ctx context.Context, x *Exchange) error {
	if _, err := g.backend.PublishStart(ctx, x.user().Client, x.ID, true, g.precondition(x)); err != nil {
		return err
	}
	x.answerDone()
	return nil
}

func (g *Gateway) publishStop(ctx context.Context, x *Exchange, w backend.Write) (mapping.Record, error) {
	return g.backend.PublishStop(ctx, x.user().Client, x.ID, w)
}

// plateForm returns the form of the body of /updatelicenseplate: the vehicle and its new plate, with the
// length that the model allows. The plate's valid forms depend on the vehicle's country,
// which only the backend knows.
func (g *Gateway) plateForm() *mapping.Resource {
	plate := g.o.Offer.Model.Resource("vehicle").Field("license_plate")
	return mapping.NewForm("updatelicenseplate",
		idParam("vehicle").Field,
		mapping.Field{Name: plate.Name, Type: plate.Type, Length: plate.Length, Required: true, Description: plate.Description, Example: plate.Example},
	)
}

func checkPlate(x *Exchange) mapping.Violations {
	v := checkUpdate(x)
	if f := x.Body.Record.Resource.Field("license_plate"); !x.Body.Supplied(f.Index) {
		v = append(v, mapping.Fail(mapping.FieldRequired, mapping.Literal(f.Name)))
	}
	return v
}

func (g *Gateway) changePlate(ctx context.Context, x *Exchange, w backend.Write) (mapping.Record, error) {
	return g.backend.ChangeLicensePlate(ctx, x.user().Client, x.ID, x.Body.Record.Get("license_plate").Text(), w)
}
