package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// outside counts what the records have that the model does not: it is answered as it is.
func (x *asked) outside() {
	seen, twice := map[int32]bool{}, 0
	for _, rec := range x.records {
		if seen[rec.ID()] {
			twice++
		}
		seen[rec.ID()] = true
	}
	if twice > 0 {
		x.add(Error, "ask.twice", x.path, fmt.Sprintf("%d of %d record(s) of the list came before with the same ID", twice, len(x.records)), "name the whole key, or have the list answer each record once")
	}
	refused := x.refusedValues()
	late := time.Now().Add(time.Hour / 2)
	for i, f := range mapping.Each(x.Fields) {
		set, unlisted, future, days, offDay := 0, 0, 0, 0, 0
		x.fractions(f)
		for _, rec := range x.records {
			v := rec.Values[i]
			if !v.IsSet() {
				continue
			}
			set++
			if len(f.OneOf) > 0 && !slices.Contains(f.OneOf, v.String()) {
				unlisted++
			}
			if v.Kind() != mapping.KindTime {
				continue
			}
			if (i == x.CreatedAt || i == x.ModifiedAt) && v.Time().After(late) {
				future++
			}
			days++
			if besideMidnight(v.Time().In(x.zone(f))) {
				offDay++
			}
		}
		if unlisted > 0 {
			x.add(Warning, "data.unlisted", x.ofField(f), fmt.Sprintf("%d of %d record(s) have another %s than the interface knows (%s)", unlisted, len(x.records), f.Name, f.Validation()),
				"say under codes, or by read or cel, what clients see of them")
		}
		if n := refused[f.Name]; n > 0 {
			severity := Note
			if n == set {
				severity = Warning // it is of something else
			}
			x.add(severity, "data.invalid", x.ofField(f), fmt.Sprintf("%d of %d record(s) have in %s what clients are refused (%s)", n, len(x.records), f.Name, f.Validation()),
				"who writes such a record back is refused: mend the rows, or name another column or path")
		}
		if future > 0 {
			x.add(Warning, "data.future", x.ofField(f), fmt.Sprintf("%d of %d record(s) have a %s that is still to come", future, len(x.records), f.Name), "compare time_zone and format with what the system has")
		}
		if days >= fewestDays && offDay == days {
			x.add(Warning, "data.day-off", x.ofField(f), fmt.Sprintf("all %d %s are an hour or two beside midnight in %s: days of another zone", days, f.Name, x.zone(f)), "say the time_zone of the field, in which its days begin")
		}
	}
}

// refusedValues counts by field the values that the interface has a rule for and would refuse.
func (x *asked) refusedValues() map[string]int {
	n := map[string]int{}
	for _, rec := range x.records {
		for _, v := range mapping.BodyOf(x.only(rec, func(*mapping.Field) bool { return true })).CheckUpdate() {
			if v.Reason != mapping.ValidationFailed || len(v.Args) == 0 {
				continue
			}
			if f := x.Field(v.Args[0]); f != nil && f.Check != "" {
				n[f.Name]++
			}
		}
	}
	return n
}

// fewestDays is of how many times at least it can be told that they are days.
const fewestDays = 3

// zone is the one that the sheet reads a field in.
func (x *asked) zone(f *mapping.Field) *time.Location {
	var zone *time.Location
	switch known := x.Sheet.Resource(x.Name); {
	case known != nil && known.SQL != nil:
		zone = known.SQL.Fields[f.Index].Zone
	case known != nil:
		zone = known.Service.Fields[f.Index].Zone
	}
	return cmp.Or(zone, x.Sheet.Location)
}

// besideMidnight tells whether a time is that of a day's beginning in a zone nearby.
func besideMidnight(t time.Time) bool {
	return t.Minute() == 0 && t.Second() == 0 && slices.Contains([]int{22, 23, 1, 2}, t.Hour())
}

// others asks as another client for what the first has: nothing of it may come.
func (x *asked) others(ctx context.Context) {
	i := slices.IndexFunc(x.clients, func(c auth.Client) bool { return c.ID != x.of.ID })
	known := x.Sheet.Resource(x.Name)
	if i < 0 || known != nil && (known.IsShared() || known.Key.ByClient) {
		return // by a number that counts for each client another record is meant
	}
	other := x.clients[i]
	page, err := x.list(ctx, backend.Query{Client: other})
	if err != nil {
		if ctx.Err() == nil {
			x.add(Error, "ask.isolation", x.path, fmt.Sprintf("the list cannot be read for client %d: %s", other.ID, x.told(err)), "mend it as the message says")
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
		if n < askedPage/10 && x.supports(x.Resource, mapping.OpGet) {
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

// isSame tells whether the client has the record that another one got, and not another of
// the same number.
func (x *asked) isSame(ctx context.Context, got mapping.Record) bool {
	own, err := x.client.Get(ctx, x.Resource, backend.Query{Client: x.of, ID: got.ID()})
	return err == nil && slices.Equal(own.Values, got.Values)
}

// fewestFractions is of how many values it is believed that they are all below 1 on purpose.
const fewestFractions = 2

// fractions looks for percentages that the system has as parts of 1: 0.15 for 15.
func (x *asked) fractions(f *mapping.Field) {
	if f.Check != "percentage" {
		return
	}
	parts := 0
	for _, rec := range x.records {
		switch v := rec.Values[f.Index]; {
		case !v.IsSet() || v.Float() == 0:
		case v.Float() < 1:
			parts++
		default:
			return
		}
	}
	if parts >= fewestFractions {
		x.add(Warning, "data.fraction", x.ofField(f), fmt.Sprintf("all %d %s that are not 0 are below 1, where the interface has a percentage, 15 and not 0.15", parts, f.Name),
			"multiply by 100: {read: PLACE * 100, write: {PLACE: \":value / 100\"}}, or of a service by cel and set")
	}
}
