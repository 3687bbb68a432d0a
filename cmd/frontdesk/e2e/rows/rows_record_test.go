package rows

import (
	"fmt"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// createRows are the interface's table "POST (add one)".
var createRows = []errorRow{
	{scope: mapping.OpCreate, reason: mapping.EmptyBody,
		ask:    []string{`POST /contact`, "POST /contact  \t\r\n"},
		status: 400, message: `Empty body`},
	{scope: mapping.OpCreate, reason: mapping.BodyNotJSON,
		ask:    []string{`POST /contact {"kind":`},
		status: 400, message: `Body is not valid JSON`},
	{scope: mapping.OpCreate, reason: mapping.FieldNotInModel,
		ask:    []string{`POST /contact {"kind":"person","name":"A","colour":"red"}`},
		status: 403, message: `Field: colour not found in model`, field: "colour"},
	{scope: mapping.OpCreate, reason: mapping.FieldReadonly,
		ask:    []string{`POST /contact {"kind":"person","name":"A","number":"C1"}`, `POST /contact {"kind":"person","name":"A","number":null}`},
		status: 403, message: `Field: number is readonly do not supply in request`, field: "number"},
	{scope: mapping.OpCreate, reason: mapping.FieldRequired,
		ask:    []string{`POST /contact {"kind":"person"}`, `POST /contact {"kind":"person","name":null}`, `POST /contact {"kind":"person","name":""}`},
		status: 403, message: `Field: name is required and not supplied in request`, field: "name"},
	{scope: mapping.OpCreate, reason: mapping.PrimaryIDSupplied,
		ask:    []string{`POST /contact {"kind":"person","name":"A","id":7}`, `POST /contact {"kind":"person","name":"A","id":null}`},
		status: 403, message: `Field: id is primary ID do not supply in request`, field: "id"},
	{scope: mapping.OpCreate, reason: mapping.RelatedIDNotFound,
		ask:    []string{`POST /order {"contact_id":999999,"kind":"workshop","order_status":"open","order_date":"2026-07-01"}`},
		status: 404, message: `Field: contact_id value: 999999 ID not found`, field: "contact_id"},
	{scope: mapping.OpCreate, reason: mapping.ArrayEmpty,
		ask:    []string{`POST /order {"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01","orderlines":[]}`},
		status: 403, message: `Field: orderlines minimum 1 element is required in array`, field: "orderlines"},
	{scope: mapping.OpCreate, reason: mapping.VarcharTooLong,
		ask:    []string{`POST /contact {"kind":"person","name":"` + letters(101) + `"}`},
		status: 403, message: `Field: name valuelength: 101 too long for datatype: varchar: 100`, field: "name"},
	{scope: mapping.OpCreate, reason: mapping.TextTooLong,
		ask:    []string{`POST /contact {"kind":"person","name":"A","note":"` + letters(65536) + `"}`},
		status: 403, message: `Field: note valuelength: 65536 too long for datatype: text: 65535`, field: "note"},
	{scope: mapping.OpCreate, reason: mapping.TimestampInvalid,
		ask:    []string{`POST /contact {"kind":"person","name":"A","birth_date":"yesterday"}`},
		status: 403, message: `Field: birth_date has an invalid value: yesterday for datatype: timestamp(ISO 8601)`, field: "birth_date"},
	{scope: mapping.OpCreate, reason: mapping.Float8Invalid,
		ask:    []string{`POST /employee {"username":"x","last_name":"A","hourly_rate":"1"}`},
		status: 403, message: `Field: hourly_rate has an invalid value: 1 for datatype: float8`, field: "hourly_rate"},
	{scope: mapping.OpCreate, reason: mapping.Int4Invalid,
		ask:    []string{`POST /contact {"kind":"person","name":"A","payment_days":1.0}`},
		status: 403, message: `Field: payment_days has an invalid value: 1.0 for datatype: int4`, field: "payment_days"},
	{scope: mapping.OpCreate, reason: mapping.VarcharInvalid,
		ask:    []string{`POST /contact {"kind":"person","name":[1, 2]}`},
		status: 403, message: `Field: name has an invalid value: [1,2] for datatype: varchar`, field: "name"},
	{scope: mapping.OpCreate, reason: mapping.ByteaInvalid,
		ask:    []string{`POST /document {"name":"a","resource":"contact","resource_id":1,"content":"!!"}`},
		status: 403, message: `Field: content has an invalid value: !! for datatype: bytea`, field: "content"},
	{scope: mapping.OpCreate, reason: mapping.DuplicateValue,
		ask:    []string{`POST /employee {"username":"demo","last_name":"A"}`},
		status: 409, message: `Field: username value: demo has a duplicate illegal value`, field: "username"},
	{scope: mapping.OpCreate, reason: mapping.ValidationFailed,
		ask:    []string{`POST /contact {"kind":"robot","name":"A"}`},
		status: 403, message: `Field: kind has an invalid value: robot for validation: person|company`, field: "kind"},
	{scope: mapping.OpCreate, reason: mapping.DateNotAfter,
		ask: []string{
			`POST /order {"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01","delivery_date":"2026-06-30"}`,
		},
		status: 403, message: `Field: delivery_date value: 2026-06-30 date must be after Field: order_date value: 2026-07-01`, field: "delivery_date"},
}

// getRows are the interface's table "GET (single record)".
var getRows = []errorRow{
	{scope: mapping.OpGet, reason: mapping.FieldNotInModel,
		ask:    []string{`GET /contact/1?fields=colour`, `GET /contact?id=1&fields=name,colour`},
		status: 403, message: `Field: colour not found in model`, field: "colour"},
	{scope: mapping.OpGet, reason: mapping.PrimaryIDInvalid,
		ask:    []string{`GET /contact/abc`, `GET /contact/0`, `GET /contact?id=-1`, `GET /contact/2147483648`, `GET /contact/1?id=2`},
		status: 403, message: `Primary ID is invalid`},
	{scope: mapping.OpGet, reason: mapping.RecordNotFound,
		ask:    []string{`GET /contact/999999`, `GET /contact?id=999999`},
		status: 404, message: `Field: id value: 999999 not found`, field: "id"},
	{scope: mapping.OpGet, reason: mapping.ParametersRequired,
		ask:    []string{`GET /contact?id=`, `GET /contact?fields=name&id`, `GET /vehicle/publishstart?id=`, `GET /document/info?id=`},
		status: 400, message: `These parameter(s): id are required`},
}

// updateRows are the interface's table "PUT (update one)".
var updateRows = []errorRow{
	{scope: mapping.OpUpdate, reason: mapping.EmptyBody,
		ask:    []string{`PUT /contact/1`, "PUT /contact?id=1  \n"},
		status: 400, message: `Empty body`},
	{scope: mapping.OpUpdate, reason: mapping.BodyNotJSON,
		ask:    []string{`PUT /contact/1 [{}]`},
		status: 400, message: `Body is not valid JSON`},
	{scope: mapping.OpUpdate, reason: mapping.PrimaryIDInvalid,
		ask:    []string{`PUT /contact/abc {"name":"A"}`, `PUT /contact?id=0 {"name":"A"}`, `PUT /contact {"id":"1","name":"A"}`, `PUT /contact/1 {"id":2,"name":"A"}`},
		status: 400, message: `Primary ID is not an valid ID`},
	{scope: mapping.OpUpdate, reason: mapping.PrimaryIDMissing,
		ask:    []string{`PUT /contact {"name":"A"}`, `PUT /contact?id= {"name":"A"}`},
		status: 403, message: `No Primary ID provided`},
	{scope: mapping.OpUpdate, reason: mapping.FieldNotInModel,
		ask:    []string{`PUT /contact/1 {"colour":"red"}`},
		status: 403, message: `Field: colour not found in model`, field: "colour"},
	{scope: mapping.OpUpdate, reason: mapping.FieldReadonly,
		ask:    []string{`PUT /contact/1 {"number":"C1"}`},
		status: 403, message: `Field: number is readonly do not supply in request`, field: "number"},
	{scope: mapping.OpUpdate, reason: mapping.FieldRequired, what: "a stored record that lacks it",
		given: func(p *rig.Practice) []any {
			id := p.Contact()
			p.Alter(`UPDATE contact SET name = NULL WHERE id = %d`, id)
			return []any{id}
		},
		ask:    []string{`PUT /contact/$1 {"note":"A"}`},
		status: 403, message: `Field: name is required and not supplied in request`, field: "name"},
	{scope: mapping.OpUpdate, reason: mapping.FieldEmpty,
		ask:    []string{`PUT /contact/1 {"name":""}`, `PUT /contact/1 {"name":null}`},
		status: 403, message: `Field: name is required and cannot be empty`, field: "name"},
	{scope: mapping.OpUpdate, reason: mapping.RelatedIDNotFound,
		given:  func(p *rig.Practice) []any { return []any{p.Order("open")} },
		ask:    []string{`PUT /order/$1 {"contact_id":999999}`},
		status: 404, message: `Field: contact_id value: 999999 ID not found`, field: "contact_id"},
	{scope: mapping.OpUpdate, reason: mapping.ArrayEmpty,
		given:  func(p *rig.Practice) []any { return []any{p.Order("open")} },
		ask:    []string{`PUT /order/$1 {"orderlines":[]}`},
		status: 403, message: `Field: orderlines minimum 1 element is required in array`, field: "orderlines"},
	{scope: mapping.OpUpdate, reason: mapping.RecordNotFound,
		ask:    []string{`PUT /contact/999999 {"name":"A"}`, `PUT /contact {"id":999999}`, `PUT /vehicle/publishstart?id=999999`},
		status: 404, message: `Field: id value: 999999 not found`, field: "id"},
	{scope: mapping.OpUpdate, reason: mapping.VarcharTooLong,
		ask:    []string{`PUT /contact/1 {"name":"` + letters(101) + `"}`},
		status: 403, message: `Field: name valuelength: 101 too long for datatype: varchar: 100`, field: "name"},
	{scope: mapping.OpUpdate, reason: mapping.TextTooLong,
		ask:    []string{`PUT /contact/1 {"note":"` + letters(65536) + `"}`},
		status: 403, message: `Field: note valuelength: 65536 too long for datatype: text: 65535`, field: "note"},
	{scope: mapping.OpUpdate, reason: mapping.TimestampInvalid,
		ask:    []string{`PUT /contact/1 {"birth_date":"2026-02-30"}`},
		status: 403, message: `Field: birth_date has an invalid value: 2026-02-30 for datatype: timestamp(ISO 8601)`, field: "birth_date"},
	{scope: mapping.OpUpdate, reason: mapping.Float8Invalid,
		ask:    []string{`PUT /employee/1 {"hourly_rate":true}`},
		status: 403, message: `Field: hourly_rate has an invalid value: true for datatype: float8`, field: "hourly_rate"},
	{scope: mapping.OpUpdate, reason: mapping.Int4Invalid,
		ask:    []string{`PUT /contact/1 {"payment_days":2147483648}`},
		status: 403, message: `Field: payment_days has an invalid value: 2147483648 for datatype: int4`, field: "payment_days"},
	{scope: mapping.OpUpdate, reason: mapping.VarcharInvalid,
		ask:    []string{`PUT /contact/1 {"name":{"a": 1}}`},
		status: 403, message: `Field: name has an invalid value: {"a":1} for datatype: varchar`, field: "name"},
	{scope: mapping.OpUpdate, reason: mapping.ValidationFailed,
		ask:    []string{`PUT /contact/1 {"kind":"robot"}`},
		status: 403, message: `Field: kind has an invalid value: robot for validation: person|company`, field: "kind"},
	{scope: mapping.OpUpdate, reason: mapping.DuplicateValue,
		ask:    []string{`PUT /employee/2 {"username":"demo"}`},
		status: 409, message: `Field: username Value: demo has a duplicate illegal value`, field: "username"},
	{scope: mapping.OpUpdate, reason: mapping.SystemRecord,
		ask:    []string{`PUT /country/528 {"name":"Holland"}`, `PUT /country/528 {"is_blocked":1}`},
		status: 409, message: `This is a system record, fields cannot be changed`},
	{scope: mapping.OpUpdate, reason: mapping.BlockedRecord,
		given:  state(`{"is_blocked":1}`),
		ask:    []string{`PUT /contact/$1 {"name":"A"}`, `PUT /contact/$1 {"is_blocked":0,"name":"A"}`, `PUT /contact/$1 {"is_archived":1}`},
		status: 409, message: `This is a blocked record, fields cannot be changed, only update: is_blocked`},
	{scope: mapping.OpUpdate, reason: mapping.ArchivedRecord,
		given:  state(`{"is_archived":1}`),
		ask:    []string{`PUT /contact/$1 {"name":"A"}`, `PUT /contact/$1 {"is_archived":0,"name":"A"}`, `PUT /contact/$1 {"is_blocked":1}`},
		status: 409, message: `This is an archived record, fields cannot be changed, only update: is_archived`},
	{scope: mapping.OpUpdate, reason: mapping.CannotUpdate,
		given: func(p *rig.Practice) []any {
			return []any{p.Order("open"), p.Line(p.Order("open"))}
		},
		ask:    []string{`PUT /orderline/$2 {"order_id":$1}`},
		status: 409, message: `Cannot update order_id`, field: "order_id"},
	{scope: mapping.OpUpdate, reason: mapping.CannotUpdate, what: "an array",
		given:  func(p *rig.Practice) []any { return []any{p.Order("open")} },
		ask:    []string{`PUT /order/$1 {"orderlines":[{"description":"A","quantity":1,"price":1,"turnover_group_id":1}]}`},
		status: 409, message: `Cannot update orderlines`, field: "orderlines"},
}

// state is a contact that was given these flags.
func state(flags string) func(p *rig.Practice) []any {
	return func(p *rig.Practice) []any {
		id := p.Contact()
		p.Put(fmt.Sprintf("/contact/%d", id), flags)
		return []any{id}
	}
}

// listRows are the interface's table "GET (multiple records)".
var listRows = []errorRow{
	{scope: mapping.OpList, reason: mapping.ParametersRequired,
		ask:    []string{`GET /orderline`, `GET /orderline?order_id=`},
		status: 400, message: `These parameter(s): order_id are required`},
	{scope: mapping.OpList, reason: mapping.ParametersRequired, what: "two of them",
		ask:    []string{`GET /document`},
		status: 400, message: `These parameter(s): resource , resource_id are required`},
	{scope: mapping.OpList, reason: mapping.FieldNotInModel,
		ask:    []string{`GET /contact?fields=colour`, `GET /contact?sort=name,-colour`},
		status: 403, message: `Field: colour not found in model`, field: "colour"},
	{scope: mapping.OpList, reason: mapping.QueryUnsupported,
		ask:    []string{`GET /contact?colour=red`, `GET /contact?colour`},
		status: 400, message: `Invalid request, query parameter is not supported: colour`},
	{scope: mapping.OpList, reason: mapping.PageInvalid,
		ask:    []string{`GET /contact?page=0`, `GET /contact?page=-1`, `GET /contact?page=first`, `GET /contact?page=`, `GET /contact?page=1.5`},
		status: 400, message: `Parameter invalid page value must be greater than 0`},
}

// deleteRows are the interface's table "DELETE".
var deleteRows = []errorRow{
	{scope: mapping.OpDelete, reason: mapping.PrimaryIDInvalid,
		ask:    []string{`DELETE /contact/abc`, `DELETE /contact?id=0`, `DELETE /contact/1?id=2`},
		status: 400, message: `Primary ID is not an valid ID`},
	{scope: mapping.OpDelete, reason: mapping.PrimaryIDMissing,
		ask:    []string{`DELETE /contact`, `DELETE /contact?id=`},
		status: 403, message: `No Primary ID provided`},
	{scope: mapping.OpDelete, reason: mapping.RecordNotFound,
		ask:    []string{`DELETE /contact/999999`, `DELETE /contact?id=999999`},
		status: 404, message: `Field: id value: 999999 not found`, field: "id"},
	{scope: mapping.OpDelete, reason: mapping.InUse,
		given: func(p *rig.Practice) []any {
			order := p.Order("open")
			p.Line(order)
			return []any{order}
		},
		ask:    []string{`DELETE /order/$1`},
		status: 406, message: `Field: id in use at: orderline`, field: "id"},
	{scope: mapping.OpDelete, reason: mapping.SystemRecord,
		ask:    []string{`DELETE /country/528`, `DELETE /advertisementsite/1`},
		status: 409, message: `This is a system-record, record cannot be deleted`},
}
