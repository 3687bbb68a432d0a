package gateway

import "frontdesk/mapping"

// recordRows are the rows of the interface's table "Generic record operations", quoted.
const recordRows = "**Records** are read and changed in the same way everywhere.\n\n" +
	"> Add one item: POST; JSON body of record fields; primary ID must not be supplied; readonly fields must not be supplied\n" +
	"> Get one item: GET; primary ID required; optional field selection checked against the model\n" +
	"> Update one item: PUT; JSON body; primary ID required; readonly fields refused; required fields cannot be emptied\n" +
	"> Get many items: GET; required parameters apply; parameter page must be greater than 0; unknown or repeated query parameters are refused\n" +
	"> Delete one item: DELETE; primary ID required; refused for system records and for records in use elsewhere"

// aboutRecord is about an operation on one record. The reasons that the model and its rules raise
// follow from the operation.
func aboutRecord(verb, summary string, r *mapping.Resource, form answerForm, note string, early ...mapping.Reason) about {
	return about{
		name: verb + typeName(r.Name), general: recordRows, summary: summary + " " + r.Name, note: note, module: r.Module,
		early: early, answers: answers{form: form, resource: r}, asksBackend: true,
	}
}

func aboutCreate(r *mapping.Resource) about {
	return aboutRecord("create", "Add one", r, createdForm, "")
}

func aboutList(r *mapping.Resource) about {
	a := about{
		name: "list" + plural(typeName(r.Name)), summary: "Get many: " + plural(r.Name), module: r.Module,
		general: "**Lists**: a parameter of a field's name is a filter: it answers the records with that value, or with `[gte]` and the like behind the name those with a higher one, and so on. Several filters must all hold. In `[in]` a comma within a text is `\\,`. Texts take `[gte]` and the like too, and flags and times `[in]`. `page` is the number of the page, absent where `after` was given, `next` the path and query of the page that follows, `null` on the last one, and `total` how many records match, where `total=1` asks. `until`, where `modified_since` was given, is what the next one should be to miss nothing: of several pages that of the first.",
		answers: answers{form: pageForm, resource: r}, asksBackend: true,
		early: []mapping.Reason{
			mapping.FieldNotInModel, mapping.PageInvalid, mapping.PageSizeInvalid, mapping.PageTooLarge, mapping.AfterCombined, mapping.Int4Invalid, mapping.TimestampInvalid, mapping.ValidationFailed,
		},
	}
	for _, f := range mapping.Each(r.Fields) {
		if f.Filterable() {
			a.early = append(a.early, f.Unreadable())
			if f.Type == mapping.Varchar {
				a.early = append(a.early, mapping.VarcharTooLong)
			}
		}
	}
	return a
}

func aboutGet(r *mapping.Resource) about {
	return aboutRecord("get", "Get one", r, recordForm, alsoByQuery("GET", r), mapping.ParametersRequired, mapping.PrimaryIDInvalid, mapping.FieldNotInModel)
}

func aboutUpdate(r *mapping.Resource) about {
	return aboutRecord("update", "Update one", r, recordForm, alsoByQuery("PUT", r)+" Fields that are not sent keep their value.", mapping.PrimaryIDInvalid, mapping.PrimaryIDMissing)
}

func aboutDelete(r *mapping.Resource) about {
	return aboutRecord("delete", "Delete one", r, doneForm, alsoByQuery("DELETE", r), mapping.PrimaryIDInvalid, mapping.PrimaryIDMissing)
}

// alsoByQuery describes the other way to name a record, which has no operation of
// its own in a description.
func alsoByQuery(method string, r *mapping.Resource) string {
	return "The same as `" + method + " /" + r.Name + "?id=<id>`."
}

func aboutBulk(r *mapping.Resource, method string) about {
	name, summary := "createMany", "Add many "+plural(r.Name)
	if method == "PUT" {
		name, summary = "updateMany", "Update many "+plural(r.Name)
	}
	return about{
		name: name + plural(typeName(r.Name)), summary: summary, module: r.Module,
		general: "**Many records at once**: each record is judged and written as the request for it alone would be, by itself and in order, and its result says what that would have been answered. " +
			"So 200 does not say that all were written. Each counts as a request against the limits of the api_key; what exceeds a rate is owed by the requests that follow. With `webhook_url` beside the records, where the body has it, the answer comes by callback, as a file. " + readyText,
		answers: answers{form: dataForm, name: "ManyAnswer", data: []bulkResult{}}, asksBackend: true,
		early: []mapping.Reason{mapping.EmptyBody, mapping.BodyNotJSON, mapping.FieldNotInModel, mapping.FieldRequired, mapping.ArrayEmpty},
		late:  []mapping.Reason{mapping.PreconditionChanged},
	}
}
