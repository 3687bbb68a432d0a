package backendtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"frontdesk/mapping"
)

// recordCases are the rules of one record, on every resource.
func recordCases() []Case {
	const stored = "What is sent must be stored and answered exactly: check the column's type, length and character set, time zones, and numbers that pass through a binary float."
	const merge = "PUT merges: only the fields that were sent are written."
	return []Case{
		each(rule("record.created", "A creating POST answers 201, the record as GET answers it, and Location", stored, func(t *T) {
			a, id := t.createAnswer(t.resource, nil)
			t.check(strings.HasSuffix(a.header.Get("Location"), path(t.resource, id)), "Location", "…"+path(t.resource, id), a.header.Get("Location"))
			t.equal("the record", t.get(t.resource, id).data(), a.data())
		})),
		each(rule("record.field_order", "Record fields come in model order, always all of them; arrays only where fields names them", "The driver answers values by field position; a driver that answers by column name must map them.", fieldOrder)),
		each(rule("record.round_trip", "What is written is read back: text letter by letter, numbers, dates as midnight in server.time_zone, answered in UTC, bytea as base64", stored, roundTrip)),
		each(rule("record.formats", "int4 is answered without a fraction, timestamps as 2026-07-01T10:00:00.000Z, flags as 0 or 1, what is empty as null", stored, formats)),
		each(rule("record.defaults", "Defaults: is_system, is_blocked, is_archived 0", stored, func(t *T) {
			rec := t.get(t.resource, t.fresh()).data()
			for _, flag := range []string{"is_system", "is_blocked", "is_archived"} {
				if t.resource.field(flag) != nil {
					t.equal(flag, 0.0, rec[flag])
				}
			}
		})),
		each(rule("record.times", "created_at and modified_at are the time of the create", "Have the administration, or stamp in the sheet, set both.", times)),
		each(rule("record.put_merges", "PUT merges: fields not sent keep their value; PUT {} answers 200 and changes nothing", merge, putMerges)),
		each(rule("record.put_empties", "A field that is not required can be emptied: null is answered as null", merge, func(t *T) {
			t.emptied(nil, func(f *Field) bool { return !strings.HasPrefix(f.Name, "is_") })
		})),
		each(rule("record.put_empty_text", "An empty text is no value: \"\" is answered as null", merge, func(t *T) {
			t.emptied("", func(f *Field) bool {
				return (f.Datatype == "varchar" || f.Datatype == "text") && f.Validation == "" && !f.Unique
			})
		})),
		each(rule("record.fields", "fields= answers the named fields alone, in model order", "Judge fields by name, and answer by position.", func(t *T) {
			id := t.record(t.resource)
			last := t.resource.Fields[len(t.resource.Fields)-1].Name
			a := t.ok(t.call("GET", path(t.resource, id)+"?fields="+last+",id", ""))
			t.equal("the members", []string{"id", last}, a.order())
		})),
		each(rule("record.id_in_query", "The primary ID comes in the path or as ?id=", "The gateway treats both alike.", func(t *T) {
			id := t.record(t.resource)
			t.equal("the record", t.get(t.resource, id).data(), t.ok(t.call("GET", "/"+t.resource.Name+"?id="+status(id), "")).data())
		})),
		each(rule("record.deleted", `DELETE answers {"successCode": 200}, and the record is gone: 404`, "DELETE must remove the record, or at least never answer it again.", func(t *T) {
			id := t.fresh()
			t.equal("the answer", `{"successCode":200}`, string(t.ok(t.call("DELETE", path(t.resource, id), "")).body))
			t.refusal(t.call("DELETE", path(t.resource, id), ""), mapping.RecordNotFound, "id", status(id))
			t.refusal(t.call("GET", path(t.resource, id), ""), mapping.RecordNotFound, "id", status(id))
		})),
		each(rule("record.length_in_characters", "Length is counted in characters, not in bytes", "Count characters: in MySQL a column in utf8mb4, in Oracle VARCHAR2(n CHAR).", lengthInCharacters)),
		each(rule("record.unique", "A unique value is refused a second time: 409 Field: <x> value: <x> has a duplicate illegal value", hintOf(mapping.DuplicateValue), uniqueOnEach, anyCreate)),
		each(rule("record.references", "Every reference must be to a record that is there: 404 Field: <x> value: <x> ID not found", hintOf(mapping.RelatedIDNotFound), referencesOnEach, anyCreate)),
	}
}

// fresh is the id of a new record of the case's resource.
func (t *T) fresh() int { return t.create(t.resource, nil) }

// whole is the id of a new record with all its fields.
func (t *T) whole() int { return t.create(t.resource, t.full(t.resource)) }

func fieldOrder(t *T) {
	var want, listed []string
	for _, f := range t.resource.Fields {
		if !f.Array {
			want = append(want, f.Name)
		}
		if f.scalar() {
			listed = append(listed, f.Name)
		}
	}
	a := t.get(t.resource, t.record(t.resource))
	t.equal("the members of a record", want, a.order())
	t.equal("the members in a list", listed, t.ok(t.call("GET", t.listOf(t.resource, a.data()), "")).order())
}

// roundTrip writes every field that may be written, in values that any
// administration can keep; how exactly it keeps others is for limitCases.
func roundTrip(t *T) {
	sent := t.full(t.resource)
	want := map[string]any{}
	for name := range sent {
		switch f := t.resource.field(name); f.Datatype {
		case "timestamp":
			sent[name] = sentDay
			if f.After != "" {
				sent[name] = laterDay
			}
			midnight, err := time.ParseInLocation(time.DateOnly, sent[name].(string), t.timeZone())
			t.check(err == nil, "a date", "one", text(err))
			want[name] = midnight.UTC().Format("2006-01-02T15:04:05.000Z")
		case "float8":
			sent[name] = 12.5
		}
	}
	id := t.create(t.resource, sent)
	got := t.get(t.resource, id).data()
	for name, v := range sent {
		f := t.resource.field(name)
		if f.Array {
			continue
		}
		if want[name] == nil {
			want[name] = asAnswered(f, v)
		}
		t.equal(described(t.resource, f), want[name], got[name])
	}
}

// timeZone is the time zone in which a date without a time is midnight.
func (t *T) timeZone() *time.Location {
	if t.zone != nil {
		return t.zone
	}
	name := "Europe/Amsterdam" // the default
	if t.can("GET", "/util/environment") {
		zone, _ := t.ok(t.call("GET", "/util/environment?username="+url.QueryEscape(t.Login.Username), "")).data()["time_zone"].(string)
		name = cmp.Or(zone, name)
	}
	zone, err := time.LoadLocation(name)
	t.check(err == nil, "the time zone", "one of the IANA database", name)
	t.zone = zone
	return zone
}

// asAnswered is the form in which a sent value comes back.
func asAnswered(f *Field, v any) any {
	switch {
	case v == sentTime:
		return answeredTime
	case v == laterTime:
		return answeredLate
	case f.Datatype == "int4":
		if n, ok := v.(int); ok {
			return float64(n)
		}
	}
	return v
}

// forms are those of values by datatype, as JSON has them.
var forms = map[string]*regexp.Regexp{
	"int4": regexp.MustCompile(`^-?\d+$`), "float8": regexp.MustCompile(`^-?\d+(\.\d+)?([eE][+-]?\d+)?$`), "varchar": regexp.MustCompile(`^"`), "text": regexp.MustCompile(`^"`),
	"timestamp": regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$`), "bytea": regexp.MustCompile(`^"[A-Za-z0-9+/]*={0,2}"$`),
}

func formats(t *T) {
	rec, _ := t.inList(t.whole)
	var body struct{ Data map[string]json.RawMessage }
	t.read(t.call("GET", path(t.resource, idOf(rec)), ""), &body)
	for _, f := range t.resource.Fields {
		if raw, there := body.Data[f.Name]; there && string(raw) != "null" {
			form := forms[f.Datatype]
			t.check(form != nil && form.Match(raw), "the form of "+described(t.resource, f), fmt.Sprint(f.Datatype, " ", form), string(raw))
		}
	}
}

func putMerges(t *T) {
	f := t.textField(t.resource)
	if f == nil {
		t.impossible("no free text to change")
	}
	id := t.whole()
	want := t.get(t.resource, id).data()
	t.equal("the record after PUT {}", want, t.put(t.resource, id, values{}).data())
	want[f.Name] = t.within(t.resource, f, "Ünï ") + t.unique(10)
	changed := t.put(t.resource, id, values{f.Name: want[f.Name]}).data()
	if want["modified_at"] != nil { // record.times checks whether it must be kept
		at, _ := changed["modified_at"].(string)
		t.check(at >= plainText(want["modified_at"]), "modified_at after a change", "not before "+plainText(want["modified_at"]), at)
		want["modified_at"] = changed["modified_at"]
	}
	t.equal("the answer", want, changed)
	t.equal("the record", want, t.get(t.resource, id).data())
}

// emptied empties every field that suits, one after the other, and fails with
// all fields that come back as something else.
func (t *T) emptied(empty any, suits func(f *Field) bool) {
	id, tested := t.whole(), false
	var other []string
	for _, f := range t.resource.Fields {
		if !f.writable() || f.Required || f.Array || tied[t.resource.Name] || !suits(f) {
			continue
		}
		tested = true
		if got := t.put(t.resource, id, values{f.Name: empty}).data()[f.Name]; got != nil {
			other = append(other, f.Name+": "+text(got))
		}
	}
	if !tested {
		t.impossible("no field that can be emptied by itself")
	}
	t.check(len(other) == 0, "fields that were emptied", text(nil), strings.Join(other, ", "))
}

// tied are resources whose fields depend on each other, so that none can be
// emptied alone.
var tied = map[string]bool{"flatrateline": true}

func lengthInCharacters(t *T) {
	f := t.textField(t.resource)
	if f == nil || f.Length == 0 || f.Length > 1<<16 {
		t.impossible("no free text of limited length")
	}
	longest := values{f.Name: strings.Repeat("é", f.Length-1) + "𝄞"}
	id := t.create(t.resource, longest)
	t.equal(described(t.resource, f), longest[f.Name], t.get(t.resource, id).data()[f.Name])
}

func uniqueOnEach(t *T) {
	done := false
	for _, f := range t.resource.Fields {
		if !f.Unique || !f.writable() || !canMake(f) || f.options() != nil || described(t.resource, f) == ownRow {
			continue // only some values of the list are unique, by a rule of their own
		}
		t.taken(t.resource, f)
		done = true
	}
	if !done {
		t.impossible("no unique field that can be written")
	}
}

func referencesOnEach(t *T) {
	done := false
	for _, f := range t.resource.Fields {
		if refers(f) {
			t.refusal(t.attempt(values{f.Name: absentID}), mapping.RelatedIDNotFound, f.Name, status(absentID))
			done = true
		}
	}
	if !done {
		t.impossible("it refers to nothing")
	}
}

// stateCases are the rules of blocked and archived records, on every resource.
func stateCases() []Case {
	return []Case{
		each(also("state.blocked", "Of a blocked record only is_blocked may be updated; it may be deleted", row{mapping.OpUpdate, mapping.BlockedRecord, nil, stateRefuses("is_blocked", "is_archived")})),
		each(also("state.archived", "Of an archived record only is_archived may be updated; it may be deleted", row{mapping.OpUpdate, mapping.ArchivedRecord, nil, stateRefuses("is_archived", "is_blocked")})),
	}
}

// times judges the times of a new record. They must be equal, except in a system that
// keeps whole seconds: it may have read two clocks, or one that ticked in between.
func times(t *T) {
	began := time.Now()
	rec := t.get(t.resource, t.fresh()).data()
	var never []string
	var kept []time.Time
	for _, name := range []string{"created_at", "modified_at"} {
		if rec[name] == nil {
			never = append(never, name)
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, plainText(rec[name]))
		off := at.Sub(began)
		t.check(err == nil && off > -time.Minute && off < time.Minute, name, "about "+began.UTC().Format(time.RFC3339), plainText(rec[name]))
		kept = append(kept, at)
	}
	if len(never) > 0 {
		t.impossible("%s not kept: always null", strings.Join(never, " and ")+map[int]string{1: " is", 2: " are"}[len(never)])
	}
	// A system may read its clock for each, and keep whole seconds.
	t.check(kept[1].Sub(kept[0]).Abs() <= time.Second, "modified_at", "that of created_at, "+plainText(rec["created_at"]), plainText(rec["modified_at"]))
}
