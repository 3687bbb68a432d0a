package gateway

import (
	"context"
	"slices"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// vehicleRoutes are the endpoints that do more with a vehicle than store it.
func (g *Gateway) vehicleRoutes(r *routes) {
	identified := mapping.NewForm("vehicle identification", mapping.Field{Name: "id", Type: mapping.Int4, Primary: true})
	const start, stop, plate = "/vehicle/publishstart", "/vehicle/publishstop", "/updatelicenseplate"
	g.carried(r, start, "PUT", vehicleOperation(identified, mapping.OpUpdate, g.publishStart(false)))
	g.carried(r, start, "GET", vehicleOperation(identified, mapping.OpGet, g.publishStart(true)))
	g.carried(r, stop, "PUT", vehicleOperation(identified, mapping.OpUpdate, g.publishStop))
	if !g.o.Offer.Carries(plate) {
		return
	}
	for _, method := range [...]string{"PUT", "POST"} {
		g.carried(r, plate, method, &Operation{
			scopes: []mapping.Scope{mapping.OpUpdate}, form: g.plateForm(), idempotent: method == "POST",
			check: checkPlate, serve: g.changePlate,
		})
	}
}

// vehicleOperation takes a vehicle's id in the query or in the body.
func vehicleOperation(form *mapping.Resource, scope mapping.Scope, serve stage) *Operation {
	op := &Operation{
		scopes: []mapping.Scope{scope}, takes: oneOf("id"), parse: parseItem, form: form, bodyOptional: true, serve: serve,
		check: func(x *Exchange) mapping.Violations {
			if x.Body == nil {
				return nil
			}
			return checkUpdate(x)
		},
	}
	if scope == mapping.OpGet { // a GET without an id lacks a parameter, not a body
		op.parse = func(x *Exchange) mapping.Violations {
			if x.Param("id") == "" && isBlank(x.request.Body()) {
				return required(x, "id")
			}
			return parseItem(x)
		}
	}
	return op
}

func (g *Gateway) publishStart(judgeOnly bool) stage {
	return func(ctx context.Context, x *Exchange) error {
		if !judgeOnly {
			return g.changed(x, func(w backend.Write) (mapping.Record, error) {
				return g.o.Backend.PublishStart(ctx, x.user().Client, x.ID, false, w)
			})
		}
		if _, err := g.o.Backend.PublishStart(ctx, x.user().Client, x.ID, true, g.precondition(x)); err != nil {
			return err
		}
		x.answerDone()
		return nil
	}
}

func (g *Gateway) publishStop(ctx context.Context, x *Exchange) error {
	return g.changed(x, func(w backend.Write) (mapping.Record, error) {
		return g.o.Backend.PublishStop(ctx, x.user().Client, x.ID, w)
	})
}

// plateForm is the body of /updatelicenseplate: the vehicle and its new plate,
// as long as the model lets a plate be. Its form depends on the vehicle's
// country, which only the backend knows.
func (g *Gateway) plateForm() *mapping.Resource {
	plate := g.o.Offer.Model.Resource("vehicle").Field("license_plate")
	return mapping.NewForm("updatelicenseplate",
		mapping.Field{Name: "id", Type: mapping.Int4, Primary: true},
		mapping.Field{Name: plate.Name, Type: plate.Type, Length: plate.Length, Required: true},
	)
}

func checkPlate(x *Exchange) mapping.Violations {
	v := checkUpdate(x)
	if f := x.Body.Record.Resource.Field("license_plate"); !x.Body.Supplied(f.Index) {
		v = append(v, mapping.Fail(mapping.FieldRequired, mapping.Literal(f.Name)))
	}
	return slices.Clip(v)
}

func (g *Gateway) changePlate(ctx context.Context, x *Exchange) error {
	return g.changed(x, func(w backend.Write) (mapping.Record, error) {
		return g.o.Backend.ChangeLicensePlate(ctx, x.user().Client, x.ID, x.Body.Record.Get("license_plate").Text(), w)
	})
}
