package backendtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"frontdesk/mapping"
)

// vehicleCases are about vehicles, their roles and their publishing.
func vehicleCases() []Case {
	const publish = "Publishing is the backend's: publish_status and published_at are readonly, and set by publishstart and publishstop only."
	const start = mapping.Scope("/vehicle/publishstart")
	return []Case{
		row("/vehicleroleline", mapping.SecondOwner, func(t *T) {
			r := t.on("vehicleroleline", "role", "vehicle_id")
			vehicle := t.create(t.on("vehicle"), nil)
			t.create(r, values{"vehicle_id": vehicle, "role": "owner"})
			t.refused(t.attempt("POST", r, values{"vehicle_id": vehicle, "role": "owner"}))
			driver := t.create(r, values{"vehicle_id": vehicle, "role": "driver"})
			t.refused(t.call("PUT", path(r, driver), `{"role":"owner"}`))
		}),
		row("DELETE /vehicle", mapping.VehiclePublished, func(t *T) {
			r, id := t.advertised(values{"tax_kind": "vat"})
			t.ok(t.call("PUT", "/vehicle/publishstart?id="+status(id), ""))
			t.refused(t.call("DELETE", path(r, id), ""), status(id))
			t.refused(t.call("DELETE", "/vehicle?id="+status(id), ""), status(id))
		}),
		row("PUT /vehicle", mapping.LicensePlateChange, func(t *T) {
			r := t.on("vehicle", "license_plate")
			t.refused(t.attempt("PUT", r, values{"license_plate": t.textValue(r.field("license_plate"))}))
		}),
		row(start, mapping.PublishFieldRequired, func(t *T) {
			_, id := t.advertised(nil)
			t.refused(t.call("PUT", "/vehicle/publishstart", values{"id": id}.json()))
			t.refused(t.call("PUT", "/vehicle/publishstart?id="+status(id), ""))
			t.refused(t.call("GET", "/vehicle/publishstart?id="+status(id), ""))
		}),
		row(start, mapping.AdvertisementSiteRequired, func(t *T) {
			id := t.create(t.on("vehicle", "tax_kind"), values{"tax_kind": "vat"})
			t.refused(t.call("PUT", "/vehicle/publishstart?id="+status(id), ""))
			t.refused(t.call("GET", "/vehicle/publishstart?id="+status(id), ""))
		}),
		rule("vehicle.publish", "PUT /vehicle/publishstart publishes and answers the vehicle, GET only judges; PUT /vehicle/publishstop ends it", publish, publishes),
		rule("vehicle.updatelicenseplate", "/updatelicenseplate, PUT and POST, changes the plate and answers the vehicle; its present value in a PUT is no change", publish, changesPlate),
		rule("vehicle.plate_compared", "A Dutch plate is answered in capitals with dashes, and compared without", "Store plates bare, in capitals, and have the unique index on that.", plateCompared),
		rule("vehicle.plate_invalid", "A Dutch plate has the form of a side code: 403 Field: license_plate has an invalid value: <x> for validation: license_plate", hintOf(mapping.EmptyBody), func(t *T) {
			r := t.on("vehicle", "license_plate")
			if r.field("license_plate").Validation != "license_plate" {
				t.impossible("license_plate has no validation of plates")
			}
			t.refusal(t.attempt("POST", r, values{"license_plate": "A"}), []mapping.Scope{mapping.OpCreate}, mapping.ValidationFailed, "license_plate", "A", "license_plate")
		}),
	}
}

// advertised is a new vehicle with an advertisement site.
func (t *T) advertised(more values) (*Resource, int) {
	r := t.on("vehicle", "tax_kind", "publish_status")
	sites := t.on("vehicleadvertisementsite")
	id := t.create(r, more)
	t.create(sites, values{"vehicle_id": id})
	return r, id
}

func publishes(t *T) {
	r, id := t.advertised(values{"tax_kind": "vat"})
	query := "?id=" + status(id)
	t.equal("at first", "not_published", t.get(r, id).data()["publish_status"])
	a := t.ok(t.call("GET", "/vehicle/publishstart"+query, ""))
	t.equal("the answer of GET", `{"successCode":200}`, string(a.body))
	t.equal("after GET", "not_published", t.get(r, id).data()["publish_status"])
	t.equal("the answer of PUT", "published", t.ok(t.call("PUT", "/vehicle/publishstart", values{"id": id}.json())).data()["publish_status"])
	t.equal("after PUT", "published", t.get(r, id).data()["publish_status"])
	t.equal("the answer of publishstop", "not_published", t.ok(t.call("PUT", "/vehicle/publishstop"+query, "")).data()["publish_status"])
	t.equal("after publishstop", "not_published", t.get(r, id).data()["publish_status"])
}

func changesPlate(t *T) {
	r := t.on("vehicle", "license_plate")
	id := t.create(r, nil)
	for _, method := range []string{"PUT", "POST"} {
		plate := t.textValue(r.field("license_plate"))
		a := t.ok(t.call(method, "/updatelicenseplate", values{"id": id, "license_plate": plate}.json()))
		t.equal("the plate in the answer", plate, a.data()["license_plate"])
		t.equal("the plate afterwards", plate, t.get(r, id).data()["license_plate"])
		t.put(r, id, values{"license_plate": plate})
	}
}

func plateCompared(t *T) {
	r := t.on("vehicle", "license_plate")
	if r.field("license_plate").Validation != "license_plate" {
		t.impossible("license_plate has no validation of plates")
	}
	plate := t.textValue(r.field("license_plate"))
	bare := strings.ToLower(strings.ReplaceAll(plate, "-", ""))
	id := t.create(r, values{"license_plate": bare})
	t.equal("the plate that was sent bare", plate, t.get(r, id).data()["license_plate"])
	if r.field("license_plate").Unique {
		t.refusal(t.attempt("POST", r, values{"license_plate": plate}), []mapping.Scope{mapping.OpCreate}, mapping.DuplicateValue, "license_plate", plate)
	}
	found := t.list("/vehicle?license_plate=" + bare).Data
	t.check(len(found) == 1 && idOf(found[0]) == id, "a filter on the bare plate", fmt.Sprint("vehicle ", id), text(found))
}

// flatrateCases are the combinations of fields that no flat rate line may have.
func flatrateCases() []Case {
	line := func(reason mapping.Reason, fields values, args ...string) Case {
		return row("/flatrateline", reason, func(t *T) { t.lineRefused(fields, args...) })
	}
	const own = "its own"
	return []Case{
		line(mapping.FlatrateTurnoverGroupRequired, values{"article_id": 1, "article_number": own, "quantity": 1}),
		line(mapping.FlatrateManualInputWithArticle, values{"article_id": 1, "is_manual_input": 1}),
		line(mapping.FlatrateNoArticlePriceAlone, values{"is_no_article_price": 1, "price": 5}),
		row("/flatrateline", mapping.FlatratePriceRequired, func(t *T) {
			t.lineRefused(values{"article_id": 1, "article_number": own, "is_no_article_price": 1})
			t.lineRefused(values{"article_id": 1, "article_number": own, "is_no_article_price": 1, "price": json.RawMessage("0.0")})
		}),
		line(mapping.FlatrateArticleRequired, values{"article_number": "A"}),
		line(mapping.FlatrateManualInputWithArticleNo, values{"article_id": 1, "article_number": own, "is_manual_input": 1, "is_no_article_price": 1}),
		line(mapping.FlatrateSortOrderInUse, values{"sort_order": 10}, "10"),
		line(mapping.FlatrateArticleNumberRequired, values{"article_id": 1}),
		line(mapping.FlatrateArticleNumberMismatch, values{"article_id": 1, "article_number": "OTHER"}, "OTHER"),
		line(mapping.FlatrateArticleKindRequired, values{"unit_type": "piece"}),
		line(mapping.FlatrateUnitTypeRequired, values{"article_kind": "part"}),
	}
}

// lineRefused asks for a line with these fields, and has a line given them, in a
// flat rate in which another one has sort_order 10.
func (t *T) lineRefused(fields values, args ...string) {
	rate, article, number := t.flatrate()
	r := t.known("flatrateline")
	change, line := fields.with(nil), values{"flatrate_id": rate}
	if change["article_id"] != nil {
		change["article_id"] = article
	}
	if change["article_number"] == "its own" {
		change["article_number"] = number
	}
	for name := range change {
		t.on("flatrateline", name)
	}
	if r.field("sort_order") != nil {
		t.create(r, line.with(values{"sort_order": 10}))
	}
	// Some combinations break two rows at once.
	if t.asks("POST") {
		t.first(t.attempt("POST", r, change.with(line)), t.scopes(), t.c.reason, args...)
	}
	if t.asks("PUT") {
		t.first(t.call("PUT", path(r, t.create(r, line)), change.json()), t.scopes(), t.c.reason, args...)
	}
}

// flatrate is a flat rate, an article and its number.
func (t *T) flatrate() (rate, article int, number any) {
	t.on("flatrateline")
	articles := t.on("article", "number")
	article = t.record(articles)
	return t.create(t.on("flatrate"), nil), article, t.get(articles, article).data()["number"]
}
