package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// writing writes as the client that was given for it: a record that
// is made, changed field by field, and removed again.
func (x *asked) writing(ctx context.Context) {
	if x.Write.ID == 0 || x.of.ID != x.Write.ID {
		return
	}
	if !x.supports(x.Resource, mapping.OpCreate) {
		return
	}
	made, sent := x.make(ctx)
	if made.Resource == nil {
		return
	}
	x.arrived(sent, made, "a new record")
	x.clock(made)
	if x.supports(x.Resource, mapping.OpUpdate) {
		x.change(ctx, made)
		if x.Sheet.Source.SQL == nil { // of a database edges does, which undoes it
			x.empty(ctx, made)
		}
	}
	x.remove(context.WithoutCancel(ctx), made)
}

// remove deletes a record that was made, which must then be gone.
func (x *asked) remove(ctx context.Context, made mapping.Record) {
	if !x.supports(x.Resource, mapping.OpDelete) {
		x.add(Warning, "write.left", x.path, fmt.Sprintf("record %d was made to look at, and cannot be deleted by the sheet", made.ID()), "remove it")
		return
	}
	if err := x.client.Delete(ctx, x.of, x.Resource, made.ID(), backend.Write{}); err != nil {
		x.add(Error, "write.left", x.path, fmt.Sprintf("record %d was made to look at, and cannot be deleted: %s", made.ID(), x.told(err)), "remove it, and mend delete")
		return
	}
	if _, err := x.get(ctx, made.ID()); !mapping.Is(err, mapping.RecordNotFound) {
		x.add(Error, "write.left", x.path, fmt.Sprintf("record %d was made to look at, and is there after it was deleted", made.ID()), "remove it, and mend delete, or what hides a deleted record")
	}
}

// empty empties each field that may be null.
func (x *asked) empty(ctx context.Context, made mapping.Record) {
	for i, f := range mapping.Each(x.Fields) {
		patch := mapping.NewRecord(x.Resource)
		patch.Values[i] = mapping.NullValue()
		body := mapping.BodyOf(patch)
		if !x.sends(f) || f.Required || f.IsState() || f.Immutable || !made.Values[i].IsSet() || len(body.CheckUpdate()) > 0 || ctx.Err() != nil {
			continue
		}
		if _, err := x.client.Update(ctx, x.of, made.ID(), body, backend.Write{}); err != nil {
			x.refused(err, "write.empty", f.Name+" without a value")
			continue
		}
		after, err := x.get(ctx, made.ID())
		if err == nil && after.Values[i].IsSet() && !after.Values[i].IsEmpty() {
			x.add(Note, "write.empty", x.ofField(f), f.Name+" has a value after it was emptied", "say under zero, empty or codes what stands for none there; a system that knows no none cannot be emptied")
		}
	}
}

// besideClock is how far the clock of a system may be from this one.
const besideClock = 10 * time.Minute

// clock holds the times of a record that was made just now to the present one. A day alone is
// none.
func (x *asked) clock(made mapping.Record) {
	for _, i := range []int{x.CreatedAt, x.ModifiedAt} {
		f, v := &x.Fields[i], made.Values[i]
		if !v.IsSet() {
			continue
		}
		local := v.Time().In(x.zone(f))
		beside := time.Since(local).Round(time.Minute)
		if beside.Abs() < besideClock || local.Hour()+local.Minute()+local.Second() == 0 {
			continue
		}
		x.add(Error, "write.clock", x.ofField(f), fmt.Sprintf("the %s of a record that was made just now is %d minutes beside the present", f.Name, int64(beside.Abs().Minutes())),
			"mend time_zone or format of the field, or the clock of the system")
	}
}

// get reads a record of the client.
func (x *asked) get(ctx context.Context, id int32) (mapping.Record, error) {
	return x.client.Get(ctx, x.Resource, backend.Query{Client: x.of, ID: id})
}

// sends tells whether clients send a field.
func (x *asked) sends(f *mapping.Field) bool {
	writes := x.client.Offer().Writes
	return !f.Readonly && !f.Primary && f.Type != mapping.Array && (writes == nil || writes(x.Resource, f))
}

// only is a record with the fields alone that are wanted and present.
func (x *asked) only(rec mapping.Record, wanted func(*mapping.Field) bool) mapping.Record {
	out := mapping.NewRecord(x.Resource)
	for i := range x.Fields {
		if f := &x.Fields[i]; x.sends(f) && wanted(f) {
			out.Values[i] = rec.Values[i]
		}
	}
	return out
}

// differ are the fields that two records differ in, of those that clients send and that are
// not left out.
func (x *asked) differ(a, b mapping.Record, out *mapping.Field) (names []string) {
	for i := range x.Fields {
		if f := &x.Fields[i]; f != out && x.sends(f) && !sameText(a.Values[i], b.Values[i]) {
			names = append(names, f.Name)
		}
	}
	return names
}

// refused tells of a write that fails. What a rule of the interface refuses is to be known.
func (x *asked) refused(err error, rule, what string) {
	violations, ok := mapping.AsViolations(err)
	failed := !ok || slices.ContainsFunc(violations, func(v *mapping.Error) bool {
		return v.Reason == mapping.InternalError || v.Reason == mapping.BackendUnavailable || v.Reason == mapping.BackendTimeout
	})
	if failed {
		x.add(Error, rule, x.path, what+" cannot be written: "+x.told(err), "mend it as the message says")
		return
	}
	x.Looked = append(x.Looked, fmt.Sprintf("%s: %s was refused: %s", x.Name, what, x.told(err)))
}

// make makes a record like one that was read. None is returned where that is refused.
func (x *asked) make(ctx context.Context) (made, sent mapping.Record) {
	var refusal error
	for _, listed := range x.records[:min(len(x.records), mostTries)] {
		like, err := x.get(ctx, listed.ID())
		if err != nil {
			continue
		}
		sent = x.only(like, func(f *mapping.Field) bool { return !like.Values[f.Index].IsAbsent() })
		for i := range x.Fields {
			if f := &x.Fields[i]; f.MustBeUnique(sent.Values[i]) {
				sent.Values[i] = x.another(f)
			}
		}
		body := mapping.BodyOf(sent)
		if v := body.CheckCreate(); len(v) > 0 {
			refusal = v
			continue
		}
		if made, err = x.client.Create(ctx, x.of, body, backend.Write{}); err != nil {
			refusal = err
			continue
		}
		if read, err := x.get(ctx, made.ID()); err == nil {
			made = read
		}
		return made, sent
	}
	if refusal != nil {
		x.refused(refusal, "write.create", "a record like one that was read")
	}
	return mapping.Record{}, sent
}

// another is a text for a unique field that no record has, absent for other fields.
func (x *asked) another(f *mapping.Field) mapping.Value {
	text := fmt.Sprintf("ZQ%06d", time.Now().UnixMilli()/10%1e6)
	if f.Type != mapping.Varchar || len(text) > f.Length || f.Check != "" || len(f.OneOf) > 0 {
		return mapping.Value{}
	}
	return mapping.TextValue(text)
}

// arrived tells of what was sent and is not there.
func (x *asked) arrived(sent, got mapping.Record, in string) {
	for i, v := range sent.Values {
		if f := &x.Fields[i]; v.IsSet() && !sameText(v, got.Values[i]) {
			x.add(Error, "write.lost", x.ofField(f), fmt.Sprintf("%s that is sent for %s is not what is there afterwards", f.Name, in), "name the place that is written, or mark the field readonly")
		}
	}
}

// change changes a record that was made, field by field.
func (x *asked) change(ctx context.Context, made mapping.Record) {
	for i, f := range mapping.Each(x.Fields) {
		v := x.otherValue(f, made.Values[i])
		if !x.sends(f) || f.Immutable || f.Unique || i == x.IsBlocked || i == x.IsArchived || !v.IsSet() || ctx.Err() != nil {
			continue
		}
		if backend.DecidesDelete(x.Resource, f.Name) {
			x.Looked = append(x.Looked, fmt.Sprintf("%s: %s was written in a new record and not changed in it, since a record with another one may have to stay", x.Name, f.Name))
			continue
		}
		before, err := x.get(ctx, made.ID())
		if err != nil {
			return
		}
		patch := mapping.NewRecord(x.Resource)
		patch.Values[i] = v
		body := mapping.BodyOf(patch)
		if len(body.CheckUpdate()) > 0 {
			continue
		}
		if _, err := x.client.Update(ctx, x.of, made.ID(), body, backend.Write{}); err != nil {
			x.refused(err, "write.update", f.Name)
			continue
		}
		after, err := x.get(ctx, made.ID())
		if err != nil {
			return
		}
		x.arrived(patch, after, "a change")
		if other := x.differ(before, after, f); len(other) > 0 {
			x.add(Error, "write.beside", x.ofField(f), fmt.Sprintf("a change of %s changes %s too", f.Name, strings.Join(other, ", ")), "have the update write what is sent alone")
		}
	}
}

// otherValue is one that a field may be changed to: of another record, or made up.
func (x *asked) otherValue(f *mapping.Field, now mapping.Value) mapping.Value {
	for _, rec := range x.records {
		if v := rec.Values[f.Index]; v.IsSet() && !v.IsEmpty() && !sameText(v, now) {
			return v
		}
	}
	if f.Check == "" && len(f.OneOf) == 0 && (f.Type == mapping.Text || f.Type == mapping.Varchar && f.Length >= 2) {
		return mapping.TextValue("zq")
	}
	return mapping.Value{}
}
