package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// prepare finds what the service can be asked for, and what must be judged here.
// none tells that no record can match.
func (l *listing) prepare(ctx context.Context) (none bool, err error) {
	l.narrows, l.hides, l.writes = l.r.Through != nil, l.r.mayHide(l.s.source), l.r.writes.Load()
	if none, err := l.prepareFilters(ctx); none || err != nil {
		return none, err
	}
	if !l.q.ModifiedSince.IsAbsent() {
		bounds, ok := l.r.Since(l.q.ModifiedSince)
		if !ok || len(bounds) != 1 || !l.r.list.Request.Uses("modified_since") {
			return false, mapping.Fail(mapping.QueryUnsupported, mapping.Literal("modified_since"))
		}
		l.v.since = bounds[0].Value
	}
	if l.v.order, err = l.order(); err != nil {
		return false, err
	}
	call, err := l.request()
	if sheet.IsUnsendable(err) {
		return true, nil // of the client, or of the address of a list that is nobody's
	}
	if err != nil {
		return false, unexpected(err)
	}
	l.narrows = l.narrows || len(l.judged) > 0 || slices.ContainsFunc(l.q.Filters, func(f backend.Filter) bool {
		_, ignored := l.r.ignores.Load(f.Field)
		return ignored
	})
	l.key = l.named(call)
	return false, nil
}

// order is what the service is told of the order: by what is asked for, and by ID where
// that leaves it open.
func (l *listing) order() (string, error) {
	var said []string
	by := slices.Clone(l.q.Sort)
	if !slices.ContainsFunc(by, func(o backend.Order) bool { return o.Field.Primary }) {
		by = append(by, backend.Order{Field: &l.r.Resource.Resource.Fields[l.r.ID]})
	}
	for _, o := range by {
		ok := o.Field.Primary && !o.Descending
		if s := l.r.list.Sort; s != nil {
			var text string
			text, ok = s.By(o.Field, o.Descending)
			said = append(said, text)
		}
		if !ok {
			return "", mapping.Fail(mapping.QueryUnsupported, mapping.Literal("sort"))
		}
	}
	if len(said) == 0 {
		return "", nil
	}
	return strings.Join(said, l.r.list.Sort.Join), nil
}

// prepareFilters takes the filters that the service has for the call, and the others to
// be judged here.
func (l *listing) prepareFilters(ctx context.Context) (none bool, err error) {
	q := mapping.NewRecord(l.r.Resource.Resource)
	for _, f := range l.q.Filters {
		if f.Op == mapping.Equals {
			q.Values[f.Field.Index] = canonical(f)
		}
	}
	keys, err := l.s.keys(ctx, l.r, l.q.Client, q)
	if err != nil {
		return false, err
	}
	for _, f := range l.q.Filters {
		if f.Op != mapping.Equals {
			prepare := l.prepareOperator
			if f.Op == mapping.AnyOf {
				prepare = l.prepareAnyOf
			}
			if none, err := prepare(ctx, f); none || err != nil {
				return true, err
			}
			continue
		}
		alternatives, err := l.r.Filter(q, f.Field, l.q.Client, keys)
		switch {
		case err != nil:
			return false, err
		case l.r.Fields[f.Field.Index].IsOpen(f.Value):
			l.judged = append(l.judged, f)
		case l.r.Fields[f.Field.Index].MayDiffer(f.Value) && !l.r.list.Request.IsInPath("filter."+f.Field.Name):
			l.between(f)
		case len(alternatives) == 0:
			return true, nil
		case len(alternatives) == 1 && len(alternatives[0]) == 0:
		case len(alternatives) == 1 && l.sends(f, alternatives[0]):
			l.v.filters = append(l.v.filters, alternatives[0]...)
			if l.r.list.Request.IsInPath("filter." + f.Field.Name) {
				l.parents = append(l.parents, alternatives[0]...)
			}
			if l.r.Through != nil && f.Field == l.r.Through.Field {
				l.narrows = false // all are of one owner
				if whose, err := l.owners.of(ctx, l.r, f.Value); err != nil || whose == nobody {
					return true, err // not even how many there are
				}
			}
		default:
			l.judged = append(l.judged, f)
		}
	}
	return false, nil
}

// between asks for what a service may keep otherwise than clients see: a time up to the next one, a
// decimal with one unit on either side, as far as the request has placeholders for it. What comes is
// judged; a text is not asked for.
func (l *listing) between(f backend.Filter) {
	l.judged = append(l.judged, f)
	bounds := map[mapping.Operator]mapping.Value{mapping.AtLeast: f.Value, mapping.AtMost: f.Value}
	if f.Value.Kind() == mapping.KindTime {
		bounds = map[mapping.Operator]mapping.Value{mapping.AtLeast: f.Value, mapping.Below: mapping.MilliValue(f.Value.Int() + 1)}
	}
	for o, v := range bounds {
		name, raw, ok := l.r.Operand(l.r.list.Request, f.Field, o, v)
		if _, taken := l.v.operands[name]; ok && !taken {
			l.ask(name, raw)
		}
	}
}

// ask sends the service an operand under the name of its placeholder.
func (l *listing) ask(name string, raw sheet.Raw) {
	if l.v.operands == nil {
		l.v.operands = map[string]sheet.Raw{}
	}
	l.v.operands[name] = raw
}

// prepareOperator is prepareFilters for a filter that is not equality.
func (l *listing) prepareOperator(_ context.Context, f backend.Filter) (none bool, err error) {
	if v, fixed := l.r.Fields[f.Field.Index].Fixed(); fixed {
		return !f.Matches(v), nil
	}
	name, raw, ok := l.r.Operand(l.r.list.Request, f.Field, f.Op, f.Value)
	if _, taken := l.v.operands[name]; !ok || taken {
		l.judged = append(l.judged, f)
		return false, nil
	}
	if l.r.Fields[f.Field.Index].IsLoose(f.Op, name) {
		l.judged = append(l.judged, f)
	}
	l.ask(name, raw)
	return false, nil
}

// prepareAnyOf is prepareFilters for a filter by several values. Each value is converted to the
// service's form; a value that the service cannot have is left out.
func (l *listing) prepareAnyOf(ctx context.Context, f backend.Filter) (none bool, err error) {
	if v, fixed := l.r.Fields[f.Field.Index].Fixed(); fixed {
		return !f.Matches(v), nil
	}
	name := sheet.Placeholder(f.Field, f.Op)
	sendable := l.r.list.Request.Uses(name)
	var all []sheet.Raw
	for _, v := range f.Values {
		q, one := mapping.NewRecord(l.r.Resource.Resource), backend.Filter{Field: f.Field, Value: v}
		q.Values[f.Field.Index] = canonical(one)
		keys, err := l.s.keys(ctx, l.r, l.q.Client, q)
		if err != nil {
			return false, err
		}
		alternatives, err := l.r.Filter(q, f.Field, l.q.Client, keys)
		if err != nil {
			return false, err
		}
		sendable = sendable && !l.r.Fields[f.Field.Index].IsOpen(v) && !l.r.Fields[f.Field.Index].MayDiffer(v)
		for _, what := range alternatives {
			if sendable = sendable && len(what) == 1 && l.isSaid(name, what); sendable {
				all = append(all, what[0].Value)
			}
		}
	}
	switch {
	case !sendable:
		l.judged = append(l.judged, f)
	case len(all) == 0:
		return true, nil
	default:
		if l.v.lists == nil {
			l.v.lists = map[string][]sheet.Raw{}
		}
		l.v.lists[name] = all
	}
	return false, nil
}

// named is the key of what is remembered of the list: what the service is asked, and by
// what is judged here. What is found out on the way is not in it, which may be something
// else on the next page.
func (l *listing) named(call sheet.Call) string {
	var b strings.Builder
	b.WriteString(strconv.FormatInt(l.q.Client.ID, 10) + " " + l.r.Name + " " + call.Target + " " + string(call.Body))
	for _, f := range l.judged {
		for _, v := range f.Operands() {
			fmt.Fprintf(&b, " %s=%d %q", f.Op.Param(f.Field.Name), v.Kind(), v.String())
		}
	}
	return b.String()
}

// request is what the service is asked for. A filter by what cannot be sent is judged
// here: some record may have it.
func (l *listing) request() (sheet.Call, error) {
	for {
		call, err := l.r.list.Request.Build(sheet.Values{Get: l.v.get, List: l.v.list})
		if count := l.s.total[l.r.list]; err == nil && count != nil && l.q.Total {
			_, err = count.Request.Build(sheet.Values{Get: l.v.get, List: l.v.list})
		}
		var u *sheet.Unsendable
		if !errors.As(err, &u) || !l.judge(u.Placeholder) {
			return call, err
		}
	}
}

// judge has the filter of a placeholder judged here; false where it is none that is
// sent.
func (l *listing) judge(placeholder string) bool {
	sent := len(l.judged)
	for _, f := range l.q.Filters {
		if l.placeholder(f) == placeholder && !l.judges(f) {
			l.judged = append(l.judged, f)
		}
	}
	delete(l.v.operands, placeholder)
	delete(l.v.lists, placeholder)
	l.v.filters = slices.DeleteFunc(l.v.filters, func(a sheet.Assignment) bool { return a.Field != nil && "filter."+a.Field.Name == placeholder })
	return len(l.judged) > sent
}

// placeholder is where the request has what is filtered by.
func (l *listing) placeholder(f backend.Filter) string {
	if !f.Op.IsRange() {
		return sheet.Placeholder(f.Field, f.Op)
	}
	name, _, _ := l.r.Operand(l.r.list.Request, f.Field, f.Op, f.Value)
	return name
}

// judges tells whether a filter is judged here alone.
func (l *listing) judges(f backend.Filter) bool { return slices.ContainsFunc(l.judged, f.Equal) }

// sends tells whether the service is asked for a filter. Nothing and an empty text
// look like no filter at all, unless they stand in quotes: these are judged here.
func (l *listing) sends(f backend.Filter, what []sheet.Assignment) bool {
	name := sheet.Placeholder(f.Field, f.Op)
	return l.isSaid(name, what) && l.r.list.Request.Uses(name)
}

// isSaid tells whether values look like some where a placeholder stands.
func (l *listing) isSaid(placeholder string, what []sheet.Assignment) bool {
	return !slices.ContainsFunc(what, func(a sheet.Assignment) bool {
		return !a.Value.IsSet() || a.Value.Kind == sheet.RawText && a.Value.Text == "" && !l.r.list.Request.Quotes(placeholder)
	})
}

// mayHide tells whether the service may list records that the client may not see: those that
// the sheet hides, or those of other clients, if requests do not name the client or if the
// service was seen to list them anyway.
func (r *resource) mayHide(source *sheet.HTTP) bool {
	named := source.LogOn != nil && source.LogOn.PerClient
	for _, q := range []*sheet.Request{r.list.Request, source.Headers} {
		named = named || q != nil && (q.Uses("client.id") || q.Uses("client.name"))
	}
	return r.HidesRows() || r.Client != "" && !named || r.listsOthers.Load()
}

// canonical is what is filtered by: a Dutch plate as such plates are written,
// however the client wrote it, since services compare letter by letter.
func canonical(f backend.Filter) mapping.Value {
	if f.Field.IgnoreDashes && f.Value.IsSet() {
		if plate, ok := mapping.DutchPlate(f.Value.Text()); ok {
			return mapping.TextValue(plate)
		}
	}
	return f.Value
}

// missed is the field of a filter that the record does not match, nil where it matches
// all, those too that the service was asked for: some leave out of account what they do
// not know, and list all. Of texts these may compare as they like; what is judged here is
// compared as the sheet shows it.
func (l *listing) missed(rec mapping.Record) *mapping.Field {
	for _, f := range l.q.Filters {
		v := rec.Values[f.Field.Index]
		if v.IsAbsent() {
			v = mapping.NullValue()
		}
		alike := isAlike
		if l.judges(f) {
			alike = l.r.Fields[f.Field.Index].ShowsAlike
		}
		byEquality := f.Op == mapping.Equals || f.Op == mapping.AnyOf
		if !f.Matches(v) && !(byEquality && slices.ContainsFunc(f.Operands(), func(asked mapping.Value) bool { return alike(asked, v) })) {
			return f.Field
		}
	}
	return nil
}

// noteFiltered notes which of the fields that are filtered by a record has.
func (l *listing) noteFiltered(rec mapping.Record) {
	if !l.q.Decides {
		return
	}
	if l.filtered == nil {
		l.filtered = map[*mapping.Field]bool{}
	}
	for _, f := range l.q.Filters {
		l.filtered[f.Field] = l.filtered[f.Field] || !rec.Values[f.Field.Index].IsAbsent()
	}
}

// leavesOut fails if a rule needs to know that no record matches, but none of the service's
// records has the field of the filter: the service seems not to answer the field. If one record
// has it, it is null in those that lack it.
func (l *listing) leavesOut() error {
	if len(l.page.Records) > 0 {
		return nil
	}
	for _, f := range l.q.Filters {
		if has, came := l.filtered[f.Field]; came && !has {
			return unexpected(fmt.Errorf("no record of the list of %s has %s, at %s: it cannot be filtered by", l.r.Name, f.Field.Name, strings.Join(l.r.Fields[f.Field.Index].From, ", ")))
		}
	}
	return nil
}

// isAlike tells whether a service may take a text for equal to the one that is filtered by.
func isAlike(asked, v mapping.Value) bool {
	return v.Kind() == mapping.KindText && asked.Kind() == mapping.KindText &&
		strings.EqualFold(strings.TrimSpace(v.Text()), strings.TrimSpace(asked.Text()))
}
