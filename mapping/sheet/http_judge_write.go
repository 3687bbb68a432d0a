package sheet

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"frontdesk/mapping"
)

// judging bounds how long a jq program runs while the sheet is loaded.
const judging = time.Second

// run runs a program; false if it fails, or yields nothing.
func (q *JQ) run(input any) (any, bool) {
	if q.code == nil { // its fault has been reported
		return nil, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), judging)
	defer cancel()
	v, err := q.First(ctx, input)
	return v, err == nil
}

// judgeNull requires that null can be written, and is read back as null.
func (d *httpDraft) judgeNull(f *Field) {
	out := d.places[f.Name]
	if !out.Writable {
		return
	}
	if out.Write == nil {
		if i := slices.IndexFunc(out.Codes, func(c Code) bool { return c.Shown.IsSet() && c.value() == out.null(f.Field) }); i >= 0 && !f.Required {
			d.fail(d.fieldAt(f.Name, "codes"), "for null %s is written, which is read as %s: expected another zero, or required: true", shownJSON(out.Codes[i].value()), out.Codes[i].Shown)
		}
		return
	}
	at := d.fieldAt(f.Name, "write")
	record := map[string]any{}
	if !f.Required {
		written, ok := out.Write.run(nil)
		if !ok {
			d.fail(at, "it fails for null, which clients may send: expected if . == null then … else … end, or required: true")
			return
		}
		if !out.Put(record, written) {
			d.fail(at, "without path it yields what is merged into the record, and yields %s for null: expected an object", shownJSON(written))
			return
		}
		read, found := out.Read.Path.Of(record)
		if out.Read.JQ != nil {
			read, found = out.Read.JQ.run(record)
		}
		if found && read != nil {
			d.fail(at, "for null it yields %s, which is read as %s: expected what reads as null, or required: true", shownJSON(written), shownJSON(read))
		}
	}
	if written, ok := out.Write.run(d.sample(f, 0)); ok && !out.Put(record, written) {
		d.fail(at, "without path it yields what is merged into the record, and yields %s: expected an object", shownJSON(written))
	}
}

// Put puts a written value into a record; false if the value has to be merged but is no object. It copies
// objects, since a value may be a constant of a jq program.
func (f *ServiceField) Put(record map[string]any, written any) bool {
	members, is := written.(map[string]any)
	switch {
	case f.Path == nil:
		Merge(record, members)
		return is
	case is:
		written = Merge(map[string]any{}, members)
	}
	f.Path.Put(record, written)
	return true
}

// Merge merges the members of an object into another one, recursively, and returns that. It copies the
// objects of from.
func Merge(into, from map[string]any) map[string]any {
	for name, v := range from {
		members, is := v.(map[string]any)
		if !is {
			into[name] = v
			continue
		}
		have, was := into[name].(map[string]any)
		if !was {
			have = map[string]any{}
			into[name] = have
		}
		Merge(have, members)
	}
	return into
}

func shownJSON(v any) string {
	text, _ := gojq.Marshal(v)
	return string(text)
}

// sample returns one of two sample values of a field, as jq sees them; one is 0 or 1.
func (d *httpDraft) sample(f *Field, one int) any {
	if f.Target != nil {
		parts := make([]any, len(f.Target.Key.Places))
		for i := range parts {
			parts[i] = strconv.Itoa(one + 1)
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return parts
	}
	text := strconv.Itoa(one + 1)
	switch f.Type {
	case mapping.Int4, mapping.Float8:
		return json.Number(text)
	case mapping.Timestamp:
		return "2026-07-0" + text + "T10:00:00.000Z"
	case mapping.Array:
		element := map[string]any{"sample": text}
		if of := ofService(d.draftOf(f.ArrayOf)); of != nil {
			for _, child := range of.mapped {
				if child.Type != mapping.Array {
					element[child.Name] = of.sample(child, one)
				}
			}
		}
		return []any{element}
	}
	if one < len(f.OneOf) {
		return f.OneOf[one]
	}
	return text
}

// tried returns the input of a call, with sample 0 of each field, but sample 1 of the field other.
func (d *httpDraft) tried(other *Field) map[string]any {
	record, value := map[string]any{}, map[string]any{}
	for _, f := range d.mapped {
		out, one := d.places[f.Name], 0
		if f == other {
			one = 1
		}
		shown := d.sample(f, one)
		var stored any = shown
		if len(out.Codes) > 0 {
			stored = out.Codes[min(one, len(out.Codes)-1)].value()
		}
		switch {
		case f.Type == mapping.Array && out.Elements.Path != nil:
			out.Elements.Path.Put(record, stored)
		case out.Write != nil:
			if written, ok := out.Write.run(shown); ok {
				out.Put(record, written)
			}
		case out.Writable && out.Path != nil:
			out.Path.Put(record, stored)
		}
		value[f.Name] = shown
	}
	var key any = "1"
	if n := len(d.out.Key); n > 1 {
		key = slices.Repeat([]any{"1"}, n)
	}
	return map[string]any{"record": record, "value": value, "key": key, "version": "1", "token": "t", "idempotency_key": "k", "secret": map[string]any{}, "client": map[string]any{"id": json.Number("1"), "name": "a"}}
}

// judgeLost requires that a call with a body of its own sends every field that clients may send: a field
// that it left out would be confirmed to the client, and lost. To find out, it makes the body with two values
// of each field, and compares them.
func (d *httpDraft) judgeLost(op mapping.Scope, c *ServiceCall) {
	var lost []string
	for i, f := range mapping.Each(d.resource.Resource.Fields) {
		of, create := &d.resource.Fields[i], op == mapping.OpCreate
		out := &d.out.Fields[i]
		sent := !f.Readonly && !f.Primary && (of.writable || f.Type == mapping.Array) && (create || !f.Immutable && f.Type != mapping.Array)
		if !sent {
			continue
		}
		paths := []Path{{"value", f.Name}}
		if out.Path != nil {
			paths = append(paths, append(Path{"record"}, out.Path...))
		}
		if i := slices.IndexFunc(paths, c.Path.places); !create && i >= 0 {
			d.fail(d.http.keyPath([]string{d.at(string(op)), d.path}, "path"), "found {%s}, which clients can change, and then it would lead to another record: expected immutable: true at the field, or another path", paths[i])
		}
		switch isOwn := f.Type == mapping.Array && out.Elements.IsZero(); {
		case slices.ContainsFunc(paths, c.places):
		case isOwn && (c.Body == nil || d.leavesOut(c, f.Name)):
			d.fail(d.at(string(op)), "%s are records of their own, and the call leaves them out: expected .value.%[1]s in its body, or readonly: true at the field", f.Name)
		case c.Body != nil && d.leavesOut(c, f.Name):
			lost = append(lost, f.Name)
		}
	}
	if len(lost) > 0 {
		d.fail(d.at(string(op)), "the body leaves out what clients may send: %s. Expected .value.FIELD of each in it, .record for all of them, or readonly: true at the field", strings.Join(lost, ", "))
	}
}

// leavesOut reports whether the body is the same with another value of a field.
func (d *httpDraft) leavesOut(c *ServiceCall, name string) bool {
	i := slices.IndexFunc(d.mapped, func(f *Field) bool { return f.Name == name })
	one, ok := c.Body.run(d.tried(nil))
	other, also := c.Body.run(d.tried(d.mapped[i]))
	return ok && also && shownJSON(one) == shownJSON(other)
}
