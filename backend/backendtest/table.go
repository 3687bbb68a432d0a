package backendtest

import (
	"encoding/json"
	"strings"

	"frontdesk/mapping"
)

const broken = "only a backend that breaks brings it about; the gateway's own tests break one"

// generalRows are the rows for all methods.
var generalRows = []row{
	{mapping.General, mapping.InternalError, nil, notFromOutside(broken)},
	{mapping.General, mapping.QueryRepeated, everywhere, wrong(says("page"), queries("page=1&page=1", "page=1&page=2", "page=&page", "page=1&p%61ge=2")...)},
	{mapping.General, mapping.QueryUnsupported, everywhere, wrong(says("no_such_parameter"), queries("no_such_parameter=1", "no_such_parameter")...)},
	{mapping.General, mapping.EndpointUnknown, everywhere, noSuchPath},
	{mapping.General, mapping.MethodUnsupported, []string{anyList, anyGet}, noSuchMethod},
	{mapping.General, mapping.BackendUnavailable, nil, notFromOutside(broken)},
	{mapping.General, mapping.BackendTimeout, nil, notFromOutside(broken)},
	{mapping.General, mapping.BackendChanged, nil, notFromOutside(broken)},
	{mapping.General, mapping.NotLoggedIn, everywhere, wrong(nil, tokens("")...)},
	{mapping.General, mapping.TokenInvalid, everywhere, func(t *T) {
		wrong(nil, tokens("00000000-0000-4000-8000-000000000000", "nonsense", t.staleToken())...)(t)
	}},
	{mapping.General, mapping.TooManyRequests, nil, notFromOutside("it would lock the login or the api_key out")},
	{mapping.General, mapping.RequestMalformed, nil, notFromOutside("it takes a request that is no HTTP")},
	{mapping.General, mapping.HeaderTooLarge, everywhere, wrong(nil, headers("X-Long", letters(17<<10))...)},
	{mapping.General, mapping.EncodingUnsupported, []string{anyCreate, anyUpdate}, wrong(says("gzip"), headers("Content-Encoding", "gzip")...)},
	{mapping.General, mapping.BodyTooLarge, nil, notFromOutside("server.body_limit is the operator's to choose")},
	{mapping.General, mapping.Overloaded, nil, notFromOutside("it would take a crowd")},
	{"GET /webhook", mapping.ResultTooLarge, nil, notFromOutside("it would take all the room for results")},
	{mapping.General, mapping.ParametersRequired, []string{"GET /util/environment"}, parametersRequired},
	{mapping.General, mapping.PreconditionChanged, []string{anyUpdate, anyDelete}, wrong(nil, headers("If-Match", `"another"`)...)},
	{mapping.General, mapping.CursorGone, []string{"GET /changes"}, cursorGone},
	{mapping.General, mapping.IdempotencyInvalid, []string{anyCreate}, wrong(nil, headers("Idempotency-Key", letters(256), "with blank", "\u00e9", "")...)},
	{mapping.General, mapping.IdempotencyReused, []string{anyCreate}, func(t *T) {
		r := t.keyed()
		a := t.ask(r)
		t.check(a.status < 300, "the status", "that of success", status(a.status))
		r.body = " " + t.right().text()
		t.refused(t.ask(r))
	}},
	{mapping.General, mapping.IdempotencyInUse, nil, notFromOutside("it depends on timing; idempotency.at_once holds what must come of it")},
}

// createRows are the table "POST (add one)".
var createRows = append([]row{
	{mapping.OpCreate, mapping.EmptyBody, nil, emptyBody},
	{mapping.OpCreate, mapping.BodyNotJSON, nil, wrong(nil, bodies(notJSON...)...)},
	{mapping.OpCreate, mapping.FieldNotInModel, nil, notInModel},
	{mapping.OpCreate, mapping.FieldReadonly, nil, readonly},
	{mapping.OpCreate, mapping.FieldRequired, nil, func(t *T) {
		f := t.choose("a required field", func(_ *Resource, f *Field) bool { return f.Required && f.writable() && !f.Array })
		t.refused(t.ask(t.right().without(f.Name)), f.Name)
		for _, empty := range empties(f) {
			t.refused(t.ask(t.right().with(values{f.Name: empty})), f.Name)
		}
	}},
	{mapping.OpCreate, mapping.PrimaryIDSupplied, nil, wrong(says("id"), fields(values{"id": 7}, values{"id": nil})...)},
	{mapping.OpCreate, mapping.RelatedIDNotFound, nil, unrelated},
	{mapping.OpCreate, mapping.ArrayEmpty, nil, arrayEmpty},
	{mapping.OpCreate, mapping.DuplicateValue, nil, duplicate},
	{mapping.OpCreate, mapping.DateNotAfter, nil, dateNotAfter},
}, valueRows(mapping.OpCreate)...)

// getRows are the table "GET (single record)".
var getRows = []row{
	{mapping.OpGet, mapping.FieldNotInModel, nil, notInModel},
	{mapping.OpGet, mapping.PrimaryIDInvalid, nil, idInvalid},
	{mapping.OpGet, mapping.RecordNotFound, nil, notFound},
	{mapping.OpGet, mapping.ParametersRequired, nil, parametersRequired},
}

// updateRows are the table "PUT (update one)".
var updateRows = append([]row{
	{mapping.OpUpdate, mapping.EmptyBody, nil, emptyBody},
	{mapping.OpUpdate, mapping.BodyNotJSON, nil, wrong(nil, bodies(notJSON...)...)},
	{mapping.OpUpdate, mapping.PrimaryIDInvalid, nil, idInvalid},
	{mapping.OpUpdate, mapping.PrimaryIDMissing, nil, idMissing},
	{mapping.OpUpdate, mapping.FieldNotInModel, nil, notInModel},
	{mapping.OpUpdate, mapping.FieldReadonly, nil, readonly},
	{mapping.OpUpdate, mapping.FieldRequired, nil, fieldLacking},
	{mapping.OpUpdate, mapping.FieldEmpty, nil, func(t *T) {
		required := func(_ *Resource, f *Field) bool { return f.Required && f.writable() }
		f := t.choose("a required text", func(_ *Resource, f *Field) bool { return required(nil, f) && f.Datatype == "varchar" }, required)
		for _, empty := range empties(f) {
			t.refused(t.attempt(values{f.Name: empty}), f.Name)
		}
	}},
	{mapping.OpUpdate, mapping.RelatedIDNotFound, nil, unrelated},
	{mapping.OpUpdate, mapping.ArrayEmpty, nil, arrayEmpty},
	{mapping.OpUpdate, mapping.RecordNotFound, nil, notFound},
	{mapping.OpUpdate, mapping.DuplicateValue, nil, duplicate},
	{mapping.OpUpdate, mapping.SystemRecord, nil, systemRecord},
	{mapping.OpUpdate, mapping.BlockedRecord, nil, stateRefuses("is_blocked", "is_archived")},
	{mapping.OpUpdate, mapping.ArchivedRecord, nil, stateRefuses("is_archived", "is_blocked")},
	{mapping.OpUpdate, mapping.CannotUpdate, nil, func(t *T) {
		f := t.choose("an array field", isArray, isParent)
		if !f.Array {
			parentFixed(t)
			return
		}
		t.refused(t.attempt(values{f.Name: []values{t.elementOf(f)}}), f.Name)
	}},
}, valueRows(mapping.OpUpdate)...)

// updateCases are the rules of PUT that are not in its table.
func updateCases() []Case {
	onPUT := func(id, says string, scope mapping.Scope, reason mapping.Reason, way way) Case {
		return also(id, says+": "+words(scope, reason), row{scope, reason, []string{anyUpdate}, way})
	}
	return []Case{
		onPUT("put.date_not_after", "A row listed for POST only holds on PUT too, judged on the merged record", mapping.OpCreate, mapping.DateNotAfter, dateNotAfter),
		onPUT("put.bytea_invalid", "A row listed for POST only holds on PUT too", mapping.OpCreate, mapping.ByteaInvalid, byteaInvalid.ask),
		onPUT("put.parent_fixed", "The field that a line names its parent by cannot be changed after create", mapping.OpUpdate, mapping.CannotUpdate, parentFixed),
	}
}

// listRows are the table "GET (multiple records)".
var listRows = []row{
	{mapping.OpList, mapping.ParametersRequired, nil, func(t *T) {
		if len(t.op.resource.requires) == 0 {
			t.unfit("no resource that may be called has a list that needs a parameter")
		}
		for _, other := range t.resources {
			if len(other.requires) > 0 && (other == t.op.resource || !t.given) && t.can("GET", "/"+other.Name) {
				t.refused(t.call("GET", "/"+other.Name, ""), other.requires...)
				t.refused(t.call("GET", "/"+other.Name+"?"+strings.Join(other.requires, "=&")+"=", ""), other.requires...)
				if others := other.requires[1:]; len(others) > 0 {
					t.refused(t.call("GET", "/"+other.Name+"?"+other.requires[0]+"=1&page=1", ""), others...)
				}
			}
		}
	}},
	{mapping.OpList, mapping.FieldNotInModel, nil, notInModel},
	{mapping.OpList, mapping.QueryUnsupported, nil, wrong(says("no_such_field"), queries("no_such_field=1", "no_such_field")...)},
	{mapping.OpList, mapping.PageInvalid, nil, wrong(nil, queries("page=0", "page=-1", "page=first", "page=", "page=1.5", "page=%2B1", "page=2147483648", "page=99999999999999999999999")...)},
	{mapping.OpList, mapping.PageSizeInvalid, nil, wrong(says("1000"), queries("page_size=0", "page_size=1001", "page_size=many", "page_size=", "page_size=1e2")...)},
	{mapping.OpList, mapping.PageTooLarge, nil, notFromOutside("it would take records of many megabytes")},
	{mapping.OpList, mapping.AfterCombined, nil, func(t *T) {
		t.refused(t.ask(t.right().and("after=1&page=1")), "page")
		if f := t.op.resource.sortsBy(); f != nil {
			t.refused(t.ask(t.right().and("after=1&sort=-"+f.Name)), "sort")
			t.refused(t.ask(t.right().and("after=1&sort="+f.Name)), "sort")
		}
	}},
}

// deleteRows are the table "DELETE".
var deleteRows = []row{
	{mapping.OpDelete, mapping.PrimaryIDInvalid, nil, idInvalid},
	{mapping.OpDelete, mapping.PrimaryIDMissing, nil, idMissing},
	{mapping.OpDelete, mapping.RecordNotFound, nil, notFound},
	{mapping.OpDelete, mapping.InUse, nil, inUse},
	{mapping.OpDelete, mapping.SystemRecord, nil, systemRecord},
}

// sessionRows are the rows of /authenticate and of paths below it.
func sessionRows() []row {
	const login, badEmail = "GET /authenticate", "the login of a user with an invalid e-mail address (--bademail-username)"
	rows := []row{
		{login, mapping.NotLoggedIn, nil, bare(nil, headers("token", "")...)},
		{login, mapping.TokenInvalid, nil, func(t *T) {
			bare(nil, tokens(t.staleToken(), "nonsense")...)(t)
			t.refused(t.send(t.staleToken(), "GET", "/authenticate?organization_name=", ""))
		}},
		{login, mapping.ExternalUser, nil, func(t *T) {
			t.worded(t.asUser(t.External, "the login of an external user (--external-username)"), `^An external user cannot login, contact the .+ servicedesk$`)
		}},
		{login, mapping.EmailMissing, nil, func(t *T) {
			t.refused(t.asUser(t.NoEmail, "the login of a user without an e-mail address (--noemail-username)"), t.NoEmail.Username)
		}},
		{login, mapping.EmailInvalid, nil, func(t *T) { t.worded(t.asUser(t.BadEmail, badEmail), `^Field: emailaddress value: .+ not valid$`) }},
		{login, mapping.CredentialsInvalid, nil, func(t *T) {
			stranger := Login{"conform-" + t.unique(12), "wrong"}
			for _, path := range []string{
				t.loginPath(t.APIKey, stranger), t.loginPath("nonsense", t.Login), t.loginPath("00000000-0000-4000-8000-000000000000", t.Login),
				t.loginPath(t.APIKey, Login{t.Login.Username, "not-the-password"}),
			} {
				t.refused(t.send("", "GET", path, ""))
			}
		}},
	}
	for _, endpoint := range []mapping.Scope{"GET /authenticate/acces", "GET /authenticate/component", "GET /authenticate/logout", "GET /authenticate/modules", "GET /authenticate/fingerprint", "POST /authenticate/forgotpassword"} {
		rows = append(rows,
			row{endpoint, mapping.NotLoggedIn, nil, bare(nil, tokens("")...)},
			row{endpoint, mapping.TokenInvalid, nil, func(t *T) { bare(nil, tokens(t.staleToken(), "nonsense")...)(t) }})
	}
	return rows
}

// utilityRows are the rows of endpoints that are no resource; see vehicleRows, too.
var utilityRows = []row{
	{"GET /document/info", mapping.DocumentUnavailable, nil, func(t *T) {
		t.refused(t.call("GET", "/document/info?id="+status(t.create(t.on("document"), nil)), ""))
	}},
	{checkAddress, mapping.ValidationFailed, nil, func(t *T) {
		address(says("Postcode", "3511EV", "postcode"), "Postcode=3511EV&CountryId=$country")(t)
		for _, no := range []string{"999999", "999", "NL"} {
			address(says("CountryId", no, "country"), "Postcode=3511%20EV&CountryId="+no)(t)
		}
	}},
	{checkAddress, mapping.FieldRequired, nil, func(t *T) {
		for _, query := range []string{"", "?Postcode=", "?Postcode=&CountryId=&Huisnummer=1"} {
			t.messages(t.call("GET", "/contact/checkaddress"+query, ""),
				"Field: Postcode is required and not supplied in request", "Field: CountryId is required and not supplied in request")
		}
	}},
	{checkAddress, mapping.Int4Invalid, nil, address(says("Huisnummer", "five"), "Postcode=3511%20EV&Huisnummer=five&CountryId=$country")},
	{checkAddress, mapping.AddressPartTooLong, nil, func(t *T) {
		address(says("Huisnummer", "11", "varchar", "10"), "Postcode=3511%20EV&CountryId=$country&Huisnummer=12345678901")(t)
		address(says("toevoeging", "12", "varchar", "10"), "Postcode=3511%20EV&CountryId=$country&toevoeging=abcdefghijkl")(t)
		all := "/contact/checkaddress?Postcode=3511%20EVABCD&Huisnummer=12345678901&toevoeging=abcdefghijkl&CountryId=" + t.countryID()
		const tooLong = " too long for type varchar (10)"
		t.messages(t.call("GET", all, ""), "Field: Postcode valuelength: 11"+tooLong, "Field: Huisnummer valuelength: 11"+tooLong, "Field: toevoeging valuelength: 12"+tooLong)
	}},
	{"GET /empoyee/email", mapping.UsernameMissing, nil, bare(nil, queries("", "username=")...)},
	{"GET /model", mapping.BodyNotJSON, nil, notFromOutside("only a backend whose own model answer is not JSON brings it about")},
}

// businessRows are the rows of orders, contacts and what belongs to them.
var businessRows = []row{
	{"/order", mapping.StatusForbidsChange, []string{"POST /order", "PUT /order/{id}", "DELETE /order/{id}"}, func(t *T) {
		r := t.orders()
		closed, change := t.closeOrder(r), []values{{"order_status": "open"}}
		if f := t.textField(r); f != nil {
			change = append(change, values{f.Name: "A"})
		}
		if t.op.method == "POST" {
			for _, made := range closedStatuses(r) {
				t.refused(t.attempt(values{"order_status": made}), "order_status", made)
			}
			return
		}
		t.changeRefused(r, closed.order, change, "order_status", closedStatus(r))
	}},
	{"/orderline", mapping.StatusForbidsChange, []string{"POST /orderline", "PUT /orderline/{id}", "DELETE /orderline/{id}"}, func(t *T) {
		r, lines := t.orders(), t.on("orderline")
		closed := t.closeOrder(r)
		if t.op.method == "POST" {
			t.refused(t.attempt(values{"order_id": closed.order}), "order_status", closedStatus(r))
			return
		}
		t.changeRefused(lines, closed.line, []values{{"quantity": 2}}, "order_status", closedStatus(r))
	}},
	{"/contactcommunication", mapping.PreferredEmailDuplicate, []string{"POST /contactcommunication", "PUT /contactcommunication/{id}"}, func(t *T) {
		r, contact := t.preferred()
		mail := values{"contact_id": contact, "type": 4, "value": "a@example.nl", "is_prefered_email": 1}
		t.create(r, mail)
		t.madeOrChanged(r, mail.with(values{"is_prefered_email": 0}), values{"is_prefered_email": 1})
	}},
	{"/contactcommunication", mapping.PreferredEmailNotAllowed, []string{"POST /contactcommunication", "PUT /contactcommunication/{id}"}, func(t *T) {
		r, contact := t.preferred()
		t.madeOrChanged(r, values{"contact_id": contact, "type": 1, "value": "+31 88 000 0000"}, values{"is_prefered_email": 1})
	}},
	{"/vehicleroleline", mapping.SecondOwner, []string{"POST /vehicleroleline", "PUT /vehicleroleline/{id}"}, func(t *T) {
		r := t.on("vehicleroleline", "role", "vehicle_id")
		vehicle := t.create(t.on("vehicle"), nil)
		t.create(r, values{"vehicle_id": vehicle, "role": "owner"})
		t.madeOrChanged(r, values{"vehicle_id": vehicle, "role": "driver"}, values{"role": "owner"})
	}},
}

// vehicleRows are the rows of vehicles and their publishing.
var vehicleRows = []row{
	{"DELETE /vehicle", mapping.VehiclePublished, []string{"DELETE /vehicle/{id}"}, func(t *T) {
		r, id := t.advertised(values{"tax_kind": "vat"})
		t.ok(t.call("PUT", "/vehicle/publishstart?id="+status(id), ""))
		t.refused(t.call("DELETE", path(r, id), ""), status(id))
		t.refused(t.call("DELETE", "/vehicle?id="+status(id), ""), status(id))
		t.ok(t.call("PUT", "/vehicle/publishstop?id="+status(id), ""))
	}},
	{"PUT /vehicle", mapping.LicensePlateChange, []string{"PUT /vehicle/{id}"}, func(t *T) {
		r := t.on("vehicle", "license_plate")
		t.refused(t.attempt(values{"license_plate": t.textValue(r.field("license_plate"))}))
	}},
	{"/vehicle/publishstart", mapping.PublishFieldRequired, publishing, func(t *T) {
		_, id := t.advertised(nil)
		t.publishRefused(id)
	}},
	{"/vehicle/publishstart", mapping.AdvertisementSiteRequired, publishing, func(t *T) {
		t.publishRefused(t.create(t.on("vehicle", "tax_kind"), values{"tax_kind": "vat"}))
	}},
}

var publishing = []string{"PUT /vehicle/publishstart", "GET /vehicle/publishstart"}

// flatrateRows are the combinations of fields that no flat rate line may have.
var flatrateRows = []row{
	lineRow(mapping.FlatrateTurnoverGroupRequired, nil, values{"article_id": 1, "article_number": itsOwn, "quantity": 1}),
	lineRow(mapping.FlatrateManualInputWithArticle, nil, values{"article_id": 1, "is_manual_input": 1}),
	lineRow(mapping.FlatrateNoArticlePriceAlone, nil, values{"is_no_article_price": 1, "price": 5}),
	lineRow(mapping.FlatratePriceRequired, nil, values{"article_id": 1, "article_number": itsOwn, "is_no_article_price": 1},
		values{"article_id": 1, "article_number": itsOwn, "is_no_article_price": 1, "price": json.RawMessage("0.0")}),
	lineRow(mapping.FlatrateArticleRequired, nil, values{"article_number": "A"}),
	lineRow(mapping.FlatrateManualInputWithArticleNo, nil, values{"article_id": 1, "article_number": itsOwn, "is_manual_input": 1, "is_no_article_price": 1}),
	lineRow(mapping.FlatrateSortOrderInUse, says("10"), values{"sort_order": 10}),
	lineRow(mapping.FlatrateArticleNumberRequired, nil, values{"article_id": 1}),
	lineRow(mapping.FlatrateArticleNumberMismatch, says("OTHER"), values{"article_id": 1, "article_number": "OTHER"}),
	lineRow(mapping.FlatrateArticleKindRequired, nil, values{"unit_type": "piece"}),
	lineRow(mapping.FlatrateUnitTypeRequired, nil, values{"article_kind": "part"}),
}

// lineRow is the row of combinations that no flat rate line may have.
func lineRow(reason mapping.Reason, says []string, combinations ...values) row {
	return row{"/flatrateline", reason, []string{"POST /flatrateline", "PUT /flatrateline/{id}"}, func(t *T) {
		for _, fields := range combinations {
			t.lineRefused(fields, says...)
		}
	}}
}
