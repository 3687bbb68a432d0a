package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// writing writes as the client that is given for it, and reads the results: it makes a record,
// writes each value that clients may send, one by one, and removes the record, which must then be
// gone.
func (x *subject) writing(ctx context.Context) {
	if x.Write.ID == 0 || x.of.ID != x.Write.ID {
		return
	}
	into := x.records[len(x.records)-1] // in a database all is undone
	made, sent := mapping.Record{}, mapping.Record{}
	if x.supports(x.Resource, mapping.OpCreate) {
		made, sent = x.make(ctx)
	}
	switch {
	case made.Resource != nil:
		x.arrived(sent, made)
		x.clock(made)
		defer x.remove(context.WithoutCancel(ctx), made)
		into = made
	case x.commits():
		x.Looked = append(x.Looked, x.Name+": no values were tried, since no record was made for it, and what is written to others cannot be undone")
		return
	}
	if x.supports(x.Resource, mapping.OpUpdate) {
		x.values(ctx, into)
	}
}

func (x *subject) isService() bool { return x.database == nil }

// commits reports whether writes stay: in a service, and if the sheet's statements may have other effects.
func (x *subject) commits() bool {
	return x.isService() || x.Sheet.Resource(x.Name).SQL.Statements[mapping.OpUpdate] != nil
}

// values writes into each field of a record what clients may send: a value of another record and, in a
// database, each code and values that are easily lost.
func (x *subject) values(ctx context.Context, into mapping.Record) {
	tried := 0
	for _, f := range mapping.Each(x.Fields) {
		if x.commits() && x.sends(f) && backend.DecidesDelete(x.Resource, f.Name) {
			x.Looked = append(x.Looked, fmt.Sprintf("%s: %s was written in a new record and not changed in it, since a record with another one may have to stay", x.Name, f.Name))
			continue
		}
		lost, failed, changed, refusedCodes := map[Severity][]string{}, map[Severity][]string{}, "", []string(nil)
		var why error
		for _, e := range x.edgesOf(f, into) {
			if x.isLate() {
				break
			}
			before, after, err := x.write(ctx, into, f.Index, e.value)
			if ctx.Err() != nil {
				return
			}
			tried++
			switch refused := isRefusal(err); {
			case refused && e.isCode:
				refusedCodes = append(refusedCodes, e.kind)
			case refused && e.severity == Error:
				x.Looked = append(x.Looked, fmt.Sprintf("%s: %s was refused for %s: %s", x.Name, e.kind, f.Name, x.refusal(err)))
			case refused:
			case err != nil:
				failed[e.severity], why = append(failed[e.severity], e.kind), err
			case !isKept(f, e.value, after.Values[f.Index]):
				lost[e.severity] = append(lost[e.severity], e.kind)
			default:
				changed = cmp.Or(changed, strings.Join(x.differ(before, after, f), ", "))
			}
		}
		if f.Type == mapping.Timestamp && len(lost[Note]) >= hours {
			delete(lost, Note) // the field is for whole days
		}
		if len(refusedCodes) > 0 {
			x.add(Warning, "write.refused", x.ofField(f), fmt.Sprintf("%s of %s is refused, which the interface offers", strings.Join(refusedCodes, ", "), f.Name), "mend its code under codes, or leave it out there; a rule of the system may refuse it for this record alone")
		}
		if changed != "" {
			x.add(Error, "write.beside", x.ofField(f), fmt.Sprintf("a change of %s changes %s too", f.Name, changed), "have the update write what is sent alone")
		}
		for _, s := range []Severity{Error, Warning, Note} {
			if len(lost[s]) > 0 {
				x.add(s, "write.altered", x.ofField(f), fmt.Sprintf("what is read after it was written to %s is another value for %s", f.Name, strings.Join(lost[s], ", ")), "mend read or write, or the place; or mark the field readonly")
			}
			if len(failed[s]) > 0 {
				x.add(s, "write.fails", x.ofField(f), fmt.Sprintf("%s cannot be written to %s, and clients get an internal error: %s", strings.Join(failed[s], ", "), f.Name, x.refusal(why)),
					"mend write, or say what clients may send: codes, length; or translate the error under errors")
			}
		}
	}
	x.Looked = append(x.Looked, fmt.Sprintf("%s: %d value(s) were written", x.Name, tried))
}

// errUndone undoes a transaction.
var errUndone = errors.New("undone")

// write writes a field of a record, and returns the record as it was before and is afterwards. The
// write is undone if possible.
func (x *subject) write(ctx context.Context, rec mapping.Record, i int, v mapping.Value) (before, after mapping.Record, err error) {
	patch := mapping.NewRecord(x.Resource)
	patch.Values[i] = v
	if x.commits() {
		if before, err = x.get(ctx, rec.ID()); err == nil {
			if _, err = x.client.Update(ctx, x.of, rec.ID(), mapping.BodyOf(patch), backend.Write{}); err == nil {
				after, err = x.get(ctx, rec.ID())
			}
		}
		return before, after, err
	}
	err = x.driver.Write(ctx, func(tx backend.Tx) error {
		if before, err = tx.Get(ctx, x.Resource, backend.Query{Client: x.of, ID: rec.ID(), ForUpdate: true}); err != nil {
			return err
		}
		if after, err = tx.Update(ctx, x.of, before, patch); err != nil {
			return err
		}
		return errUndone
	})
	if errors.Is(err, errUndone) {
		err = nil
	}
	return before, after, err
}

// isRefusal reports whether a write was refused with a violation, rather than failed.
func isRefusal(err error) bool {
	violations, is := mapping.AsViolations(err)
	return is && !slices.ContainsFunc(violations, func(v *mapping.Error) bool {
		return v.Reason == mapping.InternalError || v.Reason == mapping.BackendUnavailable || v.Reason == mapping.BackendTimeout
	})
}

// remove deletes a record that was made, which must then be gone.
func (x *subject) remove(ctx context.Context, made mapping.Record) {
	if !x.supports(x.Resource, mapping.OpDelete) {
		x.add(Warning, "write.left", x.path, fmt.Sprintf("record %d was made to look at, and cannot be deleted by the sheet", made.ID()), "remove it")
		return
	}
	if err := x.client.Delete(ctx, x.of, x.Resource, made.ID(), backend.Write{}); err != nil {
		x.add(Error, "write.left", x.path, fmt.Sprintf("record %d was made to look at, and cannot be deleted: %s", made.ID(), x.refusal(err)), "remove it, and mend delete")
		return
	}
	_, err := x.get(ctx, made.ID())
	if mapping.Is(err, mapping.RecordNotFound) {
		byID := backend.Filter{Field: &x.Fields[x.ID], Value: mapping.IntValue(int64(made.ID()))}
		if page, err := x.list(ctx, backend.Query{Copy: &backend.Copy{Fresh: true}}, byID); err != nil || len(page.Records) == 0 {
			return
		}
	}
	x.add(Error, "write.left", x.path, fmt.Sprintf("record %d was made to look at, and is there after it was deleted", made.ID()), "remove it, and mend delete, or what hides a deleted record")
}

// clockSkew is how far the clock of a system may be from this one.
const clockSkew = 10 * time.Minute

// clock compares the times of a record that was made just now with the present. Whole days are
// ignored.
func (x *subject) clock(made mapping.Record) {
	for _, i := range []int{x.CreatedAt, x.ModifiedAt} {
		f, v := &x.Fields[i], made.Values[i]
		if !v.IsSet() {
			continue
		}
		local := v.Time().In(x.zone(f))
		skew := time.Since(local).Round(time.Minute)
		if skew.Abs() < clockSkew || local.Hour()+local.Minute()+local.Second() == 0 {
			continue
		}
		x.add(Error, "write.clock", x.ofField(f), fmt.Sprintf("the %s of a record that was made just now is %d minutes beside the present", f.Name, int64(skew.Abs().Minutes())),
			"mend time_zone or format of the field, or the clock of the system")
	}
}

// get reads a record of the client.
func (x *subject) get(ctx context.Context, id int32) (mapping.Record, error) {
	return x.client.Get(ctx, x.Resource, backend.Query{Client: x.of, ID: id})
}

// sends reports whether clients send a field.
func (x *subject) sends(f *mapping.Field) bool {
	writes := x.client.Offer().Writes
	return !f.Readonly && !f.Primary && f.Type != mapping.Array && (writes == nil || writes(x.Resource, f))
}

// differ are the fields that clients send in which two records differ, without out.
func (x *subject) differ(a, b mapping.Record, out *mapping.Field) (names []string) {
	for i := range x.Fields {
		if f := &x.Fields[i]; f != out && x.sends(f) && !sameText(a.Values[i], b.Values[i]) {
			names = append(names, f.Name)
		}
	}
	return names
}

// make makes a record like one that was read; it returns none if that is refused.
func (x *subject) make(ctx context.Context) (made, sent mapping.Record) {
	var refusal error
	for _, listed := range x.records[:min(len(x.records), mostTries)] {
		like, err := x.get(ctx, listed.ID())
		if err != nil {
			continue
		}
		sent = mapping.NewRecord(x.Resource)
		for i, f := range mapping.Each(x.Fields) {
			if v := like.Values[i]; x.sends(f) && f.MustBeUnique(v) {
				sent.Values[i] = x.another(f)
			} else if x.sends(f) {
				sent.Values[i] = v
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
	switch {
	case refusal == nil:
	case isRefusal(refusal):
		x.Looked = append(x.Looked, fmt.Sprintf("%s: a record like one that was read was refused: %s", x.Name, x.refusal(refusal)))
	default:
		x.add(Error, "write.create", x.path, "a record like one that was read cannot be written: "+x.refusal(refusal), "mend it as the message says")
	}
	return mapping.Record{}, sent
}

// another is a text for a unique field that no record has, absent for other fields.
func (x *subject) another(f *mapping.Field) mapping.Value {
	text := fmt.Sprintf("ZQ%06d", time.Now().UnixMilli()/10%1e6)
	if f.Type != mapping.Varchar || len(text) > f.Length || f.Check != "" || len(f.OneOf) > 0 {
		return mapping.Value{}
	}
	return mapping.TextValue(text)
}

// arrived adds findings for values that were sent in a new record and are not there.
func (x *subject) arrived(sent, got mapping.Record) {
	for i, v := range sent.Values {
		if f := &x.Fields[i]; v.IsSet() && !sameText(v, got.Values[i]) {
			x.add(Error, "write.lost", x.ofField(f), f.Name+" that is sent for a new record is not what is there afterwards", "name the place that is written, or mark the field readonly")
		}
	}
}

// sameText reports whether two values may be equal to a system that compares texts in its own way.
func sameText(a, b mapping.Value) bool {
	return a == b || a.Kind() == mapping.KindText && b.Kind() == mapping.KindText && strings.EqualFold(strings.TrimSpace(a.Text()), strings.TrimSpace(b.Text()))
}
