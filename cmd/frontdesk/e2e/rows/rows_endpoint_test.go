package rows

import (
	"fmt"
	"strings"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// sessionRows are the rows of /authenticate and what lies under it.
var sessionRows = []errorRow{
	{scope: "GET /authenticate", reason: mapping.NotLoggedIn, what: "a token header without a token",
		do: func(p *rig.Practice) []rig.Answer {
			return []rig.Answer{p.Call("GET", "/authenticate", "", "", "token", "")}
		},
		status: 401, message: `Not authorized`},
	{scope: "GET /authenticate", reason: mapping.TokenInvalid, what: "logged out",
		do: func(p *rig.Practice) []rig.Answer {
			return []rig.Answer{p.Call("GET", "/authenticate", p.Ended(), ""), p.Call("GET", "/authenticate?organization_name=", p.Ended(), "")}
		},
		status: 401, message: `Not authorized`},
	{scope: "GET /authenticate", reason: mapping.ExternalUser,
		ask:    []string{`GET ` + rig.LoginPath(rig.FullKey, "external", "external")},
		status: 403, message: `An external user cannot login, contact the Example servicedesk`},
	{scope: "GET /authenticate", reason: mapping.EmailMissing,
		ask:    []string{`GET ` + rig.LoginPath(rig.FullKey, "noemail", "noemail")},
		status: 400, message: `Er is geen e-mailadres bekend voor gebruiker: noemail`},
	{scope: "GET /authenticate", reason: mapping.EmailInvalid,
		ask:    []string{`GET ` + rig.LoginPath(rig.FullKey, "bademail", "bademail")},
		status: 403, message: `Field: emailaddress value: bademail at example not valid`, field: "emailaddress"},
	notLoggedIn("GET /authenticate/acces", 401, `Not authorized`),
	loggedOut("GET /authenticate/acces", 401, `Not authorized`),
	notLoggedIn("GET /authenticate/component", 401, `Not authorized`),
	loggedOut("GET /authenticate/component", 401, `Not authorized`),
	notLoggedIn("GET /authenticate/logout", 401, `Not authorized`),
	loggedOut("GET /authenticate/logout", 200, `Not authorized`),
	notLoggedIn("GET /authenticate/modules", 401, `Not authorized`),
	loggedOut("GET /authenticate/modules", 401, `Not authorized`),
	notLoggedIn("GET /authenticate/fingerprint", 401, `Missing authorization`),
	loggedOut("GET /authenticate/fingerprint", 401, `Not authorized`),
	notLoggedIn("POST /authenticate/forgotpassword", 401, `Token invalid`),
	loggedOut("POST /authenticate/forgotpassword", 401, `Token invalid`),
}

// notLoggedIn is the row of an endpoint that is asked without a token.
func notLoggedIn(endpoint mapping.Scope, status int, message string) errorRow {
	return sessionRow(endpoint, mapping.NotLoggedIn, func(*rig.Practice) string { return "" }, status, message)
}

// loggedOut is the row of an endpoint that is asked with the token of a session
// that has ended.
func loggedOut(endpoint mapping.Scope, status int, message string) errorRow {
	return sessionRow(endpoint, mapping.TokenInvalid, (*rig.Practice).Ended, status, message)
}

func sessionRow(endpoint mapping.Scope, reason mapping.Reason, token func(*rig.Practice) string, status int, message string) errorRow {
	return errorRow{
		scope: endpoint, reason: reason, status: status, message: message,
		do: func(p *rig.Practice) []rig.Answer {
			method, path, _ := strings.Cut(string(endpoint), " ")
			return []rig.Answer{p.Call(method, path, token(p), "")}
		},
	}
}

// endpointRows are the interface's endpoint-specific rows, vehicles and flat
// rate lines apart.
var endpointRows = []errorRow{
	{scope: "GET /document/info", reason: mapping.DocumentUnavailable,
		given: func(p *rig.Practice) []any {
			return []any{p.Post("document", `{"name":"a","resource":"contact","resource_id":1}`)}
		},
		ask:    []string{`GET /document/info?id=$1`},
		status: 403, message: `No external document found`},
	{scope: "/orderline", reason: mapping.StatusForbidsChange,
		given: (*rig.Practice).ClosedOrder,
		ask: []string{
			`POST /orderline {"order_id":$1,"description":"A","quantity":1,"price":1,"turnover_group_id":1}`,
			`PUT /orderline/$2 {"quantity":2}`, `DELETE /orderline/$2`,
		},
		status: 409, message: `order_status is invoiced, cannot add/update/delete`},
	{scope: "/order", reason: mapping.StatusForbidsChange,
		given: (*rig.Practice).ClosedOrder,
		ask: []string{
			`POST /order {"contact_id":1,"kind":"workshop","order_status":"invoiced","order_date":"2026-07-01"}`,
			`PUT /order/$1 {"reference":"A"}`, `PUT /order/$1 {"order_status":"open"}`, `DELETE /order/$1`,
		},
		status: 409, message: `order_status is invoiced, cannot add/update/delete`},
	{scope: "/order", reason: mapping.StatusForbidsChange, what: "cancelled",
		ask:    []string{`POST /order {"contact_id":1,"kind":"workshop","order_status":"cancelled","order_date":"2026-07-01"}`},
		status: 409, message: `order_status is cancelled, cannot add/update/delete`},
	{scope: "GET /contact/checkaddress", reason: mapping.ValidationFailed, what: "Postcode",
		ask:    []string{`GET /contact/checkaddress?Postcode=3511EV&CountryId=528`},
		status: 403, message: `Field: Postcode has an invalid value: 3511EV for validation: postcode`, field: "Postcode"},
	{scope: "GET /contact/checkaddress", reason: mapping.FieldRequired,
		ask:    []string{`GET /contact/checkaddress`, `GET /contact/checkaddress?Postcode=&CountryId=&Huisnummer=1`},
		status: 403, message: `Field: Postcode is required and not supplied in request`, field: "Postcode",
		also: []string{`Field: CountryId is required and not supplied in request`}},
	{scope: "GET /contact/checkaddress", reason: mapping.Int4Invalid,
		ask:    []string{`GET /contact/checkaddress?Postcode=3511%20EV&CountryId=528&Huisnummer=five`},
		status: 403, message: `Field: Huisnummer has an invalid value: five for datatype: int4`, field: "Huisnummer"},
	{scope: "GET /contact/checkaddress", reason: mapping.AddressPartTooLong,
		ask:    []string{`GET /contact/checkaddress?Postcode=3511%20EV&CountryId=528&Huisnummer=12345678901`},
		status: 403, message: `Field: Huisnummer valuelength: 11 too long for type varchar (10)`, field: "Huisnummer"},
	{scope: "GET /contact/checkaddress", reason: mapping.AddressPartTooLong, what: "all three",
		ask:    []string{`GET /contact/checkaddress?Postcode=3511%20EVABCD&CountryId=528&Huisnummer=12345678901&toevoeging=abcdefghijkl`},
		status: 403, message: `Field: Postcode valuelength: 11 too long for type varchar (10)`, field: "Postcode",
		also: []string{`Field: Huisnummer valuelength: 11 too long for type varchar (10)`, `Field: toevoeging valuelength: 12 too long for type varchar (10)`}},
	{scope: "GET /contact/checkaddress", reason: mapping.ValidationFailed, what: "CountryId",
		ask:    []string{`GET /contact/checkaddress?Postcode=3511%20EV&CountryId=999`},
		status: 403, message: `Field: CountryId has an invalid value: 999 for validation: country`, field: "CountryId"},
	{scope: "GET /contact/checkaddress", reason: mapping.ValidationFailed, what: "CountryId that is no ID",
		ask:    []string{`GET /contact/checkaddress?Postcode=3511%20EV&CountryId=NL`},
		status: 403, message: `Field: CountryId has an invalid value: NL for validation: country`, field: "CountryId"},
	{scope: "/contactcommunication", reason: mapping.PreferredEmailDuplicate,
		given: func(p *rig.Practice) []any {
			contact := p.Contact()
			p.Post("contactcommunication", `{"contact_id":%d,"type":4,"value":"a@example.nl","is_prefered_email":1}`, contact)
			other := p.Post("contactcommunication", `{"contact_id":%d,"type":4,"value":"b@example.nl"}`, contact)
			return []any{contact, other}
		},
		ask: []string{
			`POST /contactcommunication {"contact_id":$1,"type":4,"value":"c@example.nl","is_prefered_email":1}`,
			`PUT /contactcommunication/$2 {"is_prefered_email":1}`,
		},
		status: 409, message: `Field: is_prefered_email value: 1 has a duplicate illegal value`, field: "is_prefered_email"},
	{scope: "/contactcommunication", reason: mapping.PreferredEmailNotAllowed,
		given: func(p *rig.Practice) []any {
			contact := p.Contact()
			phone := p.Post("contactcommunication", `{"contact_id":%d,"type":1,"value":"+31 88 000 0000"}`, contact)
			return []any{contact, phone}
		},
		ask: []string{
			`POST /contactcommunication {"contact_id":$1,"type":2,"value":"+31 6 0000","is_prefered_email":1}`,
			`PUT /contactcommunication/$2 {"is_prefered_email":1}`,
		},
		status: 409, message: `Field: is_prefered_email value: 1 is not alowed`, field: "is_prefered_email"},
	{scope: "GET /empoyee/email", reason: mapping.UsernameMissing,
		ask:    []string{`GET /empoyee/email`, `GET /empoyee/email?username=`},
		status: 406, message: `Value username missing.`},
	{scope: "GET /model", reason: mapping.BodyNotJSON, what: "of the backend",
		given: func(p *rig.Practice) []any {
			p.Faults.Describes(`{"name":`)
			return nil
		},
		ask:    []string{`GET /model/contact`},
		status: 400, message: `Body is not valid JSON`},
}

// vehicleRows are the endpoint-specific rows of vehicles.
var vehicleRows = []errorRow{
	{scope: "/vehicleroleline", reason: mapping.SecondOwner,
		given: func(p *rig.Practice) []any {
			vehicle := p.OwnedVehicle()
			driver := p.Post("vehicleroleline", `{"vehicle_id":%d,"contact_id":2,"role":"driver"}`, vehicle)
			return []any{vehicle, driver}
		},
		ask:    []string{`POST /vehicleroleline {"vehicle_id":$1,"contact_id":2,"role":"owner"}`, `PUT /vehicleroleline/$2 {"role":"owner"}`},
		status: 403, message: `Vehicleroleline is invalid a Vehicle can only have one owner`},
	{scope: "DELETE /vehicle", reason: mapping.VehiclePublished,
		given: func(p *rig.Practice) []any {
			vehicle := p.Vehicle(`,"tax_kind":"vat"`)
			p.Post("vehicleadvertisementsite", `{"vehicle_id":%d,"advertisementsite_id":1}`, vehicle)
			p.Put(fmt.Sprintf("/vehicle/publishstart?id=%d", vehicle), "")
			return []any{vehicle}
		},
		ask:    []string{`DELETE /vehicle/$1`, `DELETE /vehicle?id=$1`},
		status: 403, message: `Vehicle with id: $1 has publish status: published delete not allowed`},
	{scope: "PUT /vehicle", reason: mapping.LicensePlateChange,
		given:  func(p *rig.Practice) []any { return []any{p.Vehicle("")} },
		ask:    []string{`PUT /vehicle/$1 {"license_plate":"ZZ-999-Z"}`},
		status: 409, message: `The change of the licenseplate is not allowed via put, use /updatelicenseplate.`},
	{scope: "/vehicle/publishstart", reason: mapping.PublishFieldRequired,
		given: func(p *rig.Practice) []any {
			vehicle := p.Vehicle("")
			p.Post("vehicleadvertisementsite", `{"vehicle_id":%d,"advertisementsite_id":1}`, vehicle)
			return []any{vehicle}
		},
		ask:    []string{`PUT /vehicle/publishstart?id=$1`, `GET /vehicle/publishstart?id=$1`, `PUT /vehicle/publishstart {"id":$1}`},
		status: 403, message: `Field: tax_kind value: null is required vehicle not published`, field: "tax_kind"},
	{scope: "/vehicle/publishstart", reason: mapping.AdvertisementSiteRequired,
		given:  func(p *rig.Practice) []any { return []any{p.Vehicle(`,"tax_kind":"vat"`)} },
		ask:    []string{`PUT /vehicle/publishstart?id=$1`, `GET /vehicle/publishstart?id=$1`},
		status: 403, message: `Vehicleadvertisementsite is required, vehicle not published`},
}

// flatrateRow is a row of flat rate lines: a combination of fields that no line
// may be created with, nor be given by an update.
func flatrateRow(reason mapping.Reason, what, fields, message, field string, also ...string) errorRow {
	return errorRow{
		scope: "/flatrateline", reason: reason, what: what, given: (*rig.Practice).Flatrate,
		ask:    []string{`POST /flatrateline {"flatrate_id":$1,` + fields + `}`, `PUT /flatrateline/$2 {` + fields + `}`},
		status: 403, message: message, field: field, also: also,
	}
}

// flatrateRows are the endpoint-specific rows of flat rate lines.
var flatrateRows = []errorRow{
	flatrateRow(mapping.FlatrateTurnoverGroupRequired, "", `"article_id":$3,"article_number":"$4","quantity":1`,
		`Field: turnover_group_id is required and not supplied in request`, "turnover_group_id"),
	flatrateRow(mapping.FlatrateManualInputWithArticle, "", `"article_id":$3,"is_manual_input":1`,
		`Field: is_manual_input has an invalid value 1`, "is_manual_input", `Field: article_number is required and not supplied in request`),
	flatrateRow(mapping.FlatrateNoArticlePriceAlone, "", `"is_no_article_price":1,"price":5`,
		`Field: is_no_article_price has an invalid value 1`, "is_no_article_price"),
	flatrateRow(mapping.FlatratePriceRequired, "price missing", `"article_id":$3,"article_number":"$4","is_no_article_price":1`,
		`Field: price is required and not supplied in request`, "price"),
	flatrateRow(mapping.FlatratePriceRequired, "price 0", `"article_id":$3,"article_number":"$4","is_no_article_price":1,"price":0.0`,
		`Field: price is required and not supplied in request`, "price"),
	flatrateRow(mapping.FlatrateArticleRequired, "", `"article_number":"$4"`,
		`Field: article_id is required and not supplied in request`, "article_id"),
	flatrateRow(mapping.FlatrateManualInputWithArticleNo, "", `"article_id":$3,"article_number":"$4","is_manual_input":1`,
		`Field: is_manual_input has an invalid value 1`, "is_manual_input"),
	flatrateRow(mapping.FlatrateSortOrderInUse, "", `"sort_order":10`,
		`Field: sort_order has an invalid value 10`, "sort_order"),
	flatrateRow(mapping.FlatrateArticleNumberRequired, "", `"article_id":$3`,
		`Field: article_number is required and not supplied in request`, "article_number"),
	flatrateRow(mapping.FlatrateArticleNumberMismatch, "", `"article_id":$3,"article_number":"OTHER"`,
		`Field: article_number has an invalid value OTHER`, "article_number"),
	flatrateRow(mapping.FlatrateArticleKindRequired, "", `"unit_type":"piece"`,
		`Field: article_kind is required and not supplied in request`, "article_kind"),
	flatrateRow(mapping.FlatrateUnitTypeRequired, "", `"article_kind":"part"`,
		`Field: unit_type is required and not supplied in request`, "unit_type"),
}
