package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Change is a write that is being judged.
type Change struct {
	Op       mapping.Scope // OpCreate, OpUpdate or OpDelete
	Client   auth.Client
	Resource *mapping.Resource
	Body     *mapping.Body  // as the client sent it; nil on delete
	Before   mapping.Record // as stored; no Resource on create
	// After is the record as it will be; on delete, as it was. Patch is what
	// will be written of it. A rule may put a value into its canonical form
	// by setting it in both.
	After, Patch mapping.Record
	// Path names an array element in messages, such as orderlines[0]; "" for a record.
	// Siblings are the elements before it.
	Path     string
	Siblings []mapping.Record
	// PlateMayChange lets the license plate of a vehicle be changed.
	PlateMayChange bool

	held map[*mapping.Field]mapping.Record // what hold has read
}

// sets reports whether the change gives the field a new value.
func (c *Change) sets(i int) bool {
	v := c.Patch.Values[i]
	return !v.IsAbsent() && (c.Op == mapping.OpCreate || v != c.Before.Values[i])
}

// normalize puts a value into its canonical form before it is written.
func (c *Change) normalize(name string, v mapping.Value) {
	c.After.Set(name, v)
	if c.Op == mapping.OpCreate || !c.Patch.Get(name).IsAbsent() || v != c.Before.Get(name) {
		c.Patch.Set(name, v)
	}
}

// fail raises a violation of a field, named as the client named it.
func (c *Change) fail(r mapping.Reason, field string, args ...any) *mapping.Error {
	e := mapping.Fail(r, append([]any{mapping.Literal(field)}, args...)...)
	if c.Path != "" {
		e = e.In(c.Path)
	}
	return e
}

// sent is a field's value for messages: as it was sent, else as it is stored.
func (c *Change) sent(f *mapping.Field) string {
	if c.Body != nil && c.Body.Supplied(f.Index) {
		return c.Body.Sent(f.Index)
	}
	return c.After.Values[f.Index].String()
}

// step is one part of the judgement. It returns every violation it finds.
type step func(ctx context.Context, tx Reader, c *Change) error

// judge runs the steps in order, and stops at the first that finds violations.
func judge(ctx context.Context, tx Reader, c *Change, steps ...step) error {
	for _, s := range steps {
		if err := s(ctx, tx, c); err != nil {
			return err
		}
	}
	return nil
}

// recordState refuses changes because of the record's state: no field of a system record
// can change; of a blocked or archived record only these flags.
func recordState(_ context.Context, _ Reader, c *Change) error {
	r := c.Resource
	if c.Before.Flag(r.IsSystem) {
		return mapping.Fail(mapping.SystemRecord)
	}
	if c.Op == mapping.OpDelete {
		return nil
	}
	blocked, archived := c.Before.Flag(r.IsBlocked), c.Before.Flag(r.IsArchived)
	for i, v := range c.Patch.Values {
		allowed := i == r.ID || i == r.IsBlocked && blocked || i == r.IsArchived && archived
		if v.IsAbsent() || allowed {
			continue
		}
		return closedBy(blocked, archived)
	}
	return nil
}

// closedBy is the refusal of a change because of the flags of a record.
func closedBy(blocked, archived bool) error {
	var found mapping.Violations
	if blocked {
		found = append(found, mapping.Fail(mapping.BlockedRecord))
	}
	if archived {
		found = append(found, mapping.Fail(mapping.ArchivedRecord))
	}
	return found.Err()
}

// ownerState refuses to add, change or delete an element of an array field while the record
// that it is part of is blocked or archived.
func ownerState(ctx context.Context, tx Reader, c *Change) error {
	f := c.Resource.Owner()
	if f == nil || c.Op == mapping.OpUpdate && c.sets(f.Index) { // cannotUpdate refuses a new owner
		return nil
	}
	owner, ok, err := hold(ctx, tx, c, f.Name)
	if !ok {
		return err
	}
	return closedBy(owner.Flag(owner.Resource.IsBlocked), owner.Flag(owner.Resource.IsArchived))
}

// relatedIDs looks up every record that the change newly refers to.
func relatedIDs(ctx context.Context, tx Reader, c *Change) error {
	var found mapping.Violations
	for i := range c.Resource.Fields {
		f := &c.Resource.Fields[i]
		target := f.Target()
		if f.ReferenceBy != "" {
			target = c.Resource.Model().Resource(c.After.Get(f.ReferenceBy).Text())
		}
		if target == nil || f.Type == mapping.Array || !c.After.Values[i].IsSet() || !c.refers(f) {
			continue
		}
		ok, err := exists(ctx, tx, c.Client, target, c.After.Values[i], f.ReferenceBy != "")
		if err != nil {
			return fmt.Errorf("look up %s of %s: %w", f.Name, c.Resource.Name, err)
		}
		if !ok {
			found = append(found, c.fail(mapping.RelatedIDNotFound, f.Name, c.sent(f)))
		}
	}
	return found.Err()
}

// refers reports whether the change makes the field refer to another record. An array
// element refers to its new parent, which is not stored yet.
func (c *Change) refers(f *mapping.Field) bool {
	return c.sets(f.Index) || f.ReferenceBy != "" && c.sets(c.Resource.Field(f.ReferenceBy).Index)
}

// exists reports whether the client sees a record. With hold, exists also keeps the record from
// being deleted until the transaction ends; a store with foreign keys does that by itself.
func exists(ctx context.Context, tx Reader, client auth.Client, r *mapping.Resource, id mapping.Value, hold bool) (bool, error) {
	if id.Int() < 1 {
		return false, nil
	}
	if p, ok := optional[Prober](tx); ok && !hold {
		return p.Exists(ctx, client, r, int32(id.Int()))
	}
	_, err := tx.Get(ctx, r, Query{Client: client, ID: int32(id.Int()), Fields: []int{r.ID}, ForUpdate: hold})
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// cannotUpdate refuses new values for fields that are fixed at create, and
// array fields, whose elements have an endpoint of their own.
func cannotUpdate(_ context.Context, _ Reader, c *Change) error {
	var found mapping.Violations
	for i := range c.Resource.Fields {
		f := &c.Resource.Fields[i]
		if f.Immutable && c.sets(i) || f.Type == mapping.Array && !c.Patch.Values[i].IsAbsent() {
			found = append(found, c.fail(mapping.CannotUpdate, f.Name))
		}
	}
	return found.Err()
}

// mergedRecord judges the record as the update would leave it. A record of an external system may lack
// required fields already; then other fields can still be changed.
func (c *Client) mergedRecord(_ context.Context, _ Reader, change *Change) error {
	found := change.Body.CheckMerged(change.After)
	if _, isElsewhere := optional[Supporter](c.driver); isElsewhere {
		found = slices.DeleteFunc(found, func(e *mapping.Error) bool {
			return e.Reason == mapping.FieldRequired && change.Before.Get(e.Args[0]).IsEmpty()
		})
	}
	return found.Err()
}

// inUse refuses to delete a record that others refer to. Nothing cascades.
func inUse(ctx context.Context, tx Reader, c *Change) error {
	var found mapping.Violations
	for _, ref := range c.Resource.Referrers() {
		q := Query{Client: c.Client, Limit: 1, Fields: []int{ref.Resource.ID}, Decides: true}
		q.Filters = append(q.Filters, Filter{Field: ref.Field, Value: mapping.IntValue(int64(c.Before.ID()))})
		if ref.By != nil {
			q.Filters = append(q.Filters, Filter{Field: ref.By, Value: mapping.TextValue(c.Resource.Name)})
		}
		page, err := tx.List(ctx, ref.Resource, q)
		if err != nil {
			return fmt.Errorf("look for use at %s: %w", ref.Resource.Name, err)
		}
		reported := slices.ContainsFunc(found, func(e *mapping.Error) bool { return e.Args[1] == ref.Resource.Name }) // because of another field
		if len(page.Records) > 0 && !reported {
			found = append(found, c.fail(mapping.InUse, "id", mapping.Literal(ref.Resource.Name)))
		}
	}
	return found.Err()
}

// uniqueness looks for other records with a value that must be the only one.
func uniqueness(ctx context.Context, tx Reader, c *Change) error {
	var found mapping.Violations
	for i := range c.Resource.Fields {
		f := &c.Resource.Fields[i]
		if !f.MustBeUnique(c.After.Values[i]) || !c.sets(i) && !(f.UniquePer != "" && c.sets(c.Resource.Field(f.UniquePer).Index)) {
			continue
		}
		other, err := another(ctx, tx, c, f)
		if err != nil {
			return err
		}
		if other {
			found = append(found, c.fail(mapping.DuplicateValue, f.Name, c.sent(f)))
		}
	}
	return found.Err()
}

// another reports whether a record other than the changed one has the value of f that the
// change sets, within the scope of f's uniqueness.
func another(ctx context.Context, tx Reader, c *Change, f *mapping.Field) (bool, error) {
	q := Query{Client: c.Client, Limit: 2, Fields: []int{c.Resource.ID}, Decides: true}
	q.Filters = []Filter{{Field: f, Value: c.After.Values[f.Index]}}
	if f.UniquePer != "" {
		per := c.Resource.Field(f.UniquePer)
		if !c.After.Values[per.Index].IsSet() { // an element of a record that is being created
			return slices.ContainsFunc(c.Siblings, func(s mapping.Record) bool {
				return s.Values[f.Index] == c.After.Values[f.Index]
			}), nil
		}
		q.Filters = append(q.Filters, Filter{Field: per, Value: c.After.Values[per.Index]})
	}
	page, err := tx.List(ctx, c.Resource, q)
	if err != nil {
		return false, fmt.Errorf("look for another %s of %s: %w", f.Name, c.Resource.Name, err)
	}
	for _, rec := range page.Records {
		if c.Op == mapping.OpCreate || rec.ID() != c.Before.ID() {
			return true, nil
		}
	}
	return false, nil
}
