package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// oddity is a property that values can have but should not.
type oddity struct {
	rule     string
	severity Severity
	all      int // reported only if at least so many values have it, and all do; 0 if one is enough
	about    func(x *subject, f *mapping.Field, v mapping.Value) bool
	is       func(x *subject, f *mapping.Field, v mapping.Value) bool
	// {field} stands for the field, {rule} for what it may be, {zone} for its zone.
	seen, cure string
}

// oddities are all of them. That days are an hour or two off midnight, or that percentages are
// fractions of 1, only several values can show.
var oddities = []oddity{
	{"data.unlisted", Warning, 0, func(_ *subject, f *mapping.Field, _ mapping.Value) bool { return len(f.OneOf) > 0 },
		func(_ *subject, f *mapping.Field, v mapping.Value) bool { return !slices.Contains(f.OneOf, v.String()) },
		"have another {field} than the interface knows ({rule})", "say under codes, or by read, what clients see of them"},
	{"data.invalid", Note, 0, func(_ *subject, f *mapping.Field, _ mapping.Value) bool { return f.Check != "" }, (*subject).isRefused,
		"have in {field} what clients are refused ({rule})", "who writes such a record back is refused: mend the rows, or name another column or path"},
	{"data.future", Warning, 0, func(x *subject, f *mapping.Field, _ mapping.Value) bool {
		return f.Index == x.CreatedAt || f.Index == x.ModifiedAt
	},
		func(_ *subject, _ *mapping.Field, v mapping.Value) bool {
			return v.Time().After(time.Now().Add(time.Hour / 2))
		},
		"have a {field} that is still to come", "compare time_zone and type with what the system has"},
	{"data.day-off", Warning, 3, func(_ *subject, f *mapping.Field, _ mapping.Value) bool { return f.Type == mapping.Timestamp }, (*subject).isNearMidnight,
		"have a {field} an hour or two beside midnight in {zone}, as all that have one: days of another zone", "say the time_zone of the field, in which its days begin"},
	{"data.fraction", Warning, 2, func(_ *subject, f *mapping.Field, v mapping.Value) bool {
		return f.Check == "percentage" && v.Float() != 0
	},
		func(_ *subject, _ *mapping.Field, v mapping.Value) bool { return v.Float() < 1 },
		"have a {field} below 1, as all that are not 0, where the interface has a percentage, 15 and not 0.15", "multiply by 100: {read: PLACE * 100, write: {PLACE: \":value / 100\"}}"},
}

// outside counts values that are not valid by the model: clients get them as they are.
func (x *subject) outside() {
	seen := map[int32]bool{}
	for _, rec := range x.records {
		seen[rec.ID()] = true
	}
	if n := len(x.records) - len(seen); n > 0 {
		x.add(Error, "ask.twice", x.path, fmt.Sprintf("%d of %d record(s) of the list came before with the same ID", n, len(x.records)), "name the whole key, or have the list answer each record once")
	}
	for _, f := range mapping.Each(x.Fields) {
		for _, o := range oddities {
			of, n := 0, 0
			for _, rec := range x.records {
				if v := rec.Values[f.Index]; v.IsSet() && o.about(x, f, v) {
					of++
					if o.is(x, f, v) {
						n++
					}
				}
			}
			if n == 0 || o.all > 0 && (n < o.all || n < of) {
				continue
			}
			if o.rule == "data.invalid" && n == of {
				o.severity = Warning // no value is valid: the column holds something else
			}
			words := strings.NewReplacer("{field}", f.Name, "{rule}", f.Validation(), "{zone}", x.zone(f).String())
			x.add(o.severity, o.rule, x.ofField(f), fmt.Sprintf("%d of %d record(s) %s", n, len(x.records), words.Replace(o.seen)), o.cure)
		}
	}
}

// isRefused reports whether the interface has a rule for a value and would refuse it.
func (x *subject) isRefused(f *mapping.Field, v mapping.Value) bool {
	patch := mapping.NewRecord(x.Resource)
	patch.Values[f.Index] = v
	return slices.ContainsFunc(mapping.BodyOf(patch).CheckUpdate(), func(v *mapping.Error) bool { return v.Reason == mapping.ValidationFailed })
}

// zone is the time zone in which the sheet reads a field.
func (x *subject) zone(f *mapping.Field) *time.Location {
	var zone *time.Location
	switch known := x.Sheet.Resource(x.Name); {
	case known != nil && known.SQL != nil:
		zone = known.SQL.Fields[f.Index].Zone
	case known != nil:
		zone = known.Service.Fields[f.Index].Zone
	}
	return cmp.Or(zone, x.Sheet.Location)
}

// isNearMidnight reports whether a time may be a midnight of another zone.
func (x *subject) isNearMidnight(f *mapping.Field, v mapping.Value) bool {
	t := v.Time().In(x.zone(f))
	return t.Minute() == 0 && t.Second() == 0 && slices.Contains([]int{22, 23, 1, 2}, t.Hour())
}

// others reads, as another client, what the first has: nothing of it may come.
func (x *subject) others(ctx context.Context) {
	i := slices.IndexFunc(x.clients, func(c auth.Client) bool { return c.ID != x.of.ID })
	known := x.Sheet.Resource(x.Name)
	if i < 0 || known != nil && (known.IsShared() || known.Key.ByClient) {
		return // each client has its own records under the same numbers
	}
	other := x.clients[i]
	page, err := x.list(ctx, backend.Query{Client: other})
	if err != nil {
		if ctx.Err() == nil {
			x.add(Error, "ask.isolation", x.path, fmt.Sprintf("the list cannot be read for client %d: %s", other.ID, x.refusal(err)), "mend it as the message says")
		}
		return
	}
	listed, read := 0, 0
	for n, rec := range x.records {
		if rec.Owner == mapping.OfAll {
			continue // the sheet says so
		}
		if slices.ContainsFunc(page.Records, func(same mapping.Record) bool { return slices.Equal(same.Values, rec.Values) }) {
			listed++
		}
		if n < pageSize/10 && x.supports(x.Resource, mapping.OpGet) {
			if same, err := x.client.Get(ctx, x.Resource, backend.Query{Client: other, ID: rec.ID()}); err == nil && x.isSame(ctx, same) {
				read++
			}
		}
	}
	if listed+read == 0 || ctx.Err() != nil {
		return
	}
	seen := fmt.Sprintf("client %d is shown records of client %d: its list has %d of %d, and get answers %d", other.ID, x.of.ID, listed, len(x.records), read)
	x.add(Error, "ask.isolation", strictyaml.Child(x.path, "client"), seen, "name the column or path that tells whose a record is")
}

// isSame reports whether the client has the very record that another one got, and not another with
// the same number.
func (x *subject) isSame(ctx context.Context, got mapping.Record) bool {
	own, err := x.client.Get(ctx, x.Resource, backend.Query{Client: x.of, ID: got.ID()})
	return err == nil && slices.Equal(own.Values, got.Values)
}
