package remote

import (
	"cmp"
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

// listing is one list on its way through the service's pages.
type listing struct {
	s    *service
	r    *resource
	q    backend.Query
	v    values
	key  string // of what is remembered of the list
	scan scanner
	// owners judge whose the records are; strangers tells that the service lists
	// those of several owners, so that some may be left out.
	owners    *owners
	strangers bool
	// drops tells that some of what the service lists is no record to the client,
	// which shows only once it is read.
	drops bool
	// parents are what the path says of all that is listed.
	parents []sheet.Assignment
	// judged are the filters that the service does not have: they are applied
	// here, to all that it lists.
	judged []backend.Filter
	// distrusts tells that the service listed what does not match a filter that it was
	// asked for, as some do that do not know it.
	distrusts bool
	// probing takes rows as they come, to tell what they lack.
	probing bool

	page    backend.Page
	skip    int // records still to be left out
	behind  after
	beyond  bool // the page is after an ID that was never given out
	counted int  // records up to the present place
	chunk   mark // of the chunk that the page ends in
}

// list reads a page of records, in as many calls as that takes.
func (s *service) list(ctx context.Context, m *mapping.Resource, q backend.Query) (backend.Page, error) {
	return s.listFor(ctx, m, q, s.owners(q.Client))
}

// listFor is list with what is known of whose records are.
func (s *service) listFor(ctx context.Context, m *mapping.Resource, q backend.Query, o *owners) (backend.Page, error) {
	r := s.resources[m]
	if r == nil || r.list == nil {
		return backend.Page{}, nil
	}
	l := &listing{s: s, r: r, q: q, v: values{client: q.Client}, owners: o, page: backend.Page{Records: []mapping.Record{}}}
	if none, err := l.prepare(ctx); none || err != nil {
		return l.page, err
	}
	l.scan = s.scanner()
	defer s.free(l.scan)
	err := l.run(ctx)
	return l.page, err
}

// prepare finds what the service can be asked for, and what must be judged here.
// none tells that no record can match.
func (l *listing) prepare(ctx context.Context) (none bool, err error) {
	q := mapping.NewRecord(l.r.Resource.Resource)
	for _, f := range l.q.Filters {
		q.Values[f.Field.Index] = canonical(f)
	}
	keys, err := l.s.keys(ctx, l.r, l.q.Client, q)
	if err != nil {
		return false, err
	}
	l.strangers, l.drops = l.r.Through != nil, l.r.drops(l.s.source)
	for _, f := range l.q.Filters {
		alternatives, err := l.r.Filter(q, f.Field, l.q.Client, keys)
		switch {
		case err != nil:
			return false, err
		case len(alternatives) == 0:
			return true, nil
		case len(alternatives) == 1 && len(alternatives[0]) == 0:
		case len(alternatives) == 1 && l.sends(f, alternatives[0]):
			l.v.filters = append(l.v.filters, alternatives[0]...)
			if l.r.list.Request.IsInPath("filter." + f.Field.Name) {
				l.parents = append(l.parents, alternatives[0]...)
			}
			if l.r.Through != nil && f.Field == l.r.Through.Field {
				l.strangers = false
				if whose, err := l.owners.of(ctx, l.r, f.Value); err != nil || whose == nobody {
					return true, err // not even how many there are
				}
			}
		default:
			l.judged = append(l.judged, f)
		}
	}
	if !l.q.ModifiedSince.IsAbsent() {
		bounds, ok := l.r.Since(l.q.ModifiedSince)
		if !ok || len(bounds) != 1 || !l.r.list.Request.Uses("modified_since") {
			return false, mapping.Fail(mapping.QueryUnsupported, mapping.Literal("modified_since"))
		}
		l.v.since = bounds[0].Value
	}
	for _, o := range l.q.Sort {
		if !o.Field.Primary || o.Descending {
			return false, mapping.Fail(mapping.QueryUnsupported, mapping.Literal("sort"))
		}
	}
	key, err := l.request()
	if sheet.IsUnsendable(err) {
		return true, nil // of the client, or of the address of a list that is nobody's
	}
	if err != nil {
		return false, unexpected(err)
	}
	l.key = strconv.FormatInt(l.q.Client.ID, 10) + " " + l.r.Name + " " + key.Target + " " + string(key.Body)
	return false, nil
}

// request is what the service is asked for. A filter by what cannot be sent is judged
// here: some record may have it.
func (l *listing) request() (sheet.Call, error) {
	for {
		call, err := l.r.list.Request.Build(sheet.Values{Get: l.v.get})
		if count := l.s.total[l.r.list]; err == nil && count != nil && l.q.Total {
			_, err = count.Request.Build(sheet.Values{Get: l.v.get})
		}
		var u *sheet.Unsendable
		if !errors.As(err, &u) || !l.judges(u.Placeholder) {
			return call, err
		}
	}
}

// judges has the filter of a placeholder judged here; false where it is none that is
// sent.
func (l *listing) judges(placeholder string) bool {
	sent := len(l.judged)
	for _, f := range l.q.Filters {
		if "filter."+f.Field.Name == placeholder && !slices.Contains(l.judged, f) {
			l.judged = append(l.judged, f)
		}
	}
	l.v.filters = slices.DeleteFunc(l.v.filters, func(a sheet.Assignment) bool { return a.Field != nil && "filter."+a.Field.Name == placeholder })
	return len(l.judged) > sent
}

// sends tells whether the service is asked for a filter. Nothing and an empty text
// look like no filter at all, unless they stand in quotes: these are judged here.
func (l *listing) sends(f backend.Filter, what []sheet.Assignment) bool {
	name := "filter." + f.Field.Name
	for _, a := range what {
		if !a.Value.IsSet() || a.Value.Kind == sheet.RawText && a.Value.Text == "" && !l.r.list.Request.Quotes(name) {
			return false
		}
	}
	return l.r.list.Request.Uses(name)
}

// drops tells that lists of a resource may have what is no record to the client: what
// the sheet hides, or others' records where the service is not told who asks.
func (r *resource) drops(source *sheet.HTTP) bool {
	told := source.LogOn != nil && source.LogOn.PerClient
	for _, q := range []*sheet.Request{r.list.Request, source.Headers} {
		told = told || q != nil && (q.Uses("client.id") || q.Uses("client.name"))
	}
	return r.HidesRows() || r.Client != "" && !told || r.mixed.Load()
}

// sifts tells that not all that the service lists is for the client, so that all
// of it is looked at and counted here.
func (l *listing) sifts() bool { return len(l.judged) > 0 || l.distrusts || l.strangers || l.drops }

// listed names the list for what is remembered of it: what the service is asked, and
// what is judged here.
func (l *listing) listed() string {
	if !l.sifts() {
		return l.key
	}
	var b strings.Builder
	b.WriteString(l.key + " sifted")
	for _, f := range l.judged {
		fmt.Fprintf(&b, " %s=%d %q", f.Field.Name, f.Value.Kind(), f.Value.String())
	}
	return b.String()
}

// leavesMarks tells that a place in the list is worth remembering. What is judged here
// may come to match in what lies before it: such a list is read from the beginning.
func (l *listing) leavesMarks() bool { return len(l.judged) == 0 && !l.distrusts && !l.strangers }

// counts tells that the total is asked for, and that nobody tells it.
func (l *listing) counts() bool {
	return l.q.Total && (l.sifts() || l.r.list.total < 0 && l.s.total[l.r.list] == nil)
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

// isDirect tells that the records of the page are those at its positions, so
// that what comes before need not be looked at.
func (l *listing) isDirect() bool { return !l.sifts() && l.q.After == 0 }

// run goes through the list until the page is full, and further where what was
// not told must be counted.
func (l *listing) run(ctx context.Context) error {
	total, err := l.askTotal(ctx)
	if err != nil {
		return err
	}
	if l.q.After > 0 && l.r.Key.Kept { // an ID that was never given out is behind all
		key, err := l.s.keyOf(ctx, l.r, l.q.Client, l.q.After)
		l.beyond = err == nil && key == nil
		if err != nil || l.beyond && (!l.q.Total || total >= 0) {
			return cmp.Or(err, l.end(total))
		}
	}
	at := l.begin()
	l.counted = at.seen
	for {
		c, err := l.fetch(ctx, at)
		if errors.Is(err, backend.ErrNotFound) {
			c, err = chunk{last: true, total: -1}, nil // the list of a parent that is not there
		}
		if at.known && isRefusal(err) {
			// What was remembered is no longer good there.
			l.s.cursors.forget(l.listed())
			at = l.restart()
			continue
		}
		if err != nil {
			return err
		}
		if c.total >= 0 && !l.sifts() {
			total = c.total
		}
		sifted, ordered := l.sifts(), l.byID()
		if err := l.take(ctx, at, c); err != nil {
			return err
		}
		l.scan.reset()
		if l.drops && !sifted {
			l.r.mixed.Store(true)
		}
		if l.sifts() && !sifted { // found out now: nothing stands at its position
			total = -1
		}
		again := l.sifts() != sifted || l.byID() != ordered && l.q.After > 0
		if l.isAstray(at) {
			l.behind.unmarked, again = true, true
		}
		if !again && c.last && l.isLost() {
			l.q.After, again = 0, true
		}
		if again {
			at = l.restart()
			continue
		}
		if c.next.seen = l.counted; c.next.cursor != "" && l.counted > 0 && l.leavesMarks() {
			l.s.cursors.learn(l.listed(), mark{position: c.next.position, seen: c.next.seen, cursor: c.next.cursor})
		}
		full := len(l.page.Records) > l.q.Limit
		if !full && l.isDirect() && len(l.page.Records) == l.q.Limit && c.more {
			l.page.More, full = true, true
		}
		if c.last || full && l.isSettled() && (!l.q.Total || total >= 0) {
			break
		}
		at = c.next
	}
	return l.end(total)
}

// restart begins the list once more.
func (l *listing) restart() place {
	l.page.Records = l.page.Records[:0]
	at := l.begin()
	l.counted = at.seen
	return at
}

// end settles what the page says of what is beyond it.
func (l *listing) end(total int64) error {
	if err := l.fit(); err != nil {
		return err
	}
	if n := len(l.page.Records); n > 0 && l.page.More {
		l.s.cursors.learnAfter(l.listed(), l.page.Records[n-1].ID(), l.mark())
	}
	if l.page.Total = total; total < 0 {
		l.page.Total = int64(l.counted)
	}
	return nil
}

// fit ends the page where it has what was asked for, or what there is room for.
func (l *listing) fit() error {
	page := backend.Page{More: l.page.More, Records: l.page.Records[:0]}
	for _, rec := range l.page.Records {
		if added, err := page.Add(&l.q, rec); err != nil || !added {
			l.page = page
			return err
		}
	}
	l.page = page
	return nil
}

// askTotal makes the call that counts, where the sheet has one; -1 for none.
func (l *listing) askTotal(ctx context.Context) (int64, error) {
	count := l.s.total[l.r.list]
	if !l.q.Total || count == nil || l.sifts() {
		return -1, nil
	}
	a, err := l.s.call(ctx, count, &l.v)
	if err != nil {
		return 0, err
	}
	defer l.s.wire.release(a)
	if !isSuccess(a.status) {
		return 0, l.s.refused(a, count, sheet.Attempt{}, nil)
	}
	top, err := l.s.scan(count.answer, a.body)
	if err != nil {
		return 0, l.s.refused(a, count, sheet.Attempt{}, err)
	}
	return totalOf(top, count)
}

// isRefusal tells of an answer of a service that works.
func isRefusal(err error) bool {
	if _, ok := mapping.AsViolations(err); ok {
		return true
	}
	return errors.Is(err, backend.ErrUnexpected)
}

// take adds the records of a chunk that belong to the page, and remembers where
// the last of them is.
func (l *listing) take(ctx context.Context, at place, c chunk) error {
	rows := c.rows
	l.counted += len(rows)
	if l.isDirect() {
		left := min(l.skip, len(rows))
		l.skip -= left
		rows = rows[left:]
		rows = rows[:min(len(rows), max(0, l.q.Limit+1-len(l.page.Records)))]
	} else if l.sifts() {
		l.counted -= len(rows) // counted below, as they are found to match
	}
	if len(rows) == 0 {
		return nil
	}
	records, shown, err := l.s.decode(ctx, l.r, l.owners, rows)
	if err != nil {
		return err
	}
	for i, rec := range records {
		if !shown[i] {
			l.drops = true
			continue
		}
		matches := l.matches(rec)
		l.distrusts = l.distrusts || !matches && len(l.judged) == 0
		if matches && l.sifts() {
			l.counted++
		}
		if l.passes(rec.ID()) || !matches || !l.isDirect() && !l.isWanted(rec) {
			continue
		}
		if len(l.page.Records) < l.q.Limit {
			l.chunk = mark{position: at.position, seen: at.seen, cursor: at.cursor}
		}
		if len(l.page.Records) <= l.q.Limit {
			l.page.Records = append(l.page.Records, rec)
		}
	}
	return nil
}

// matches judges the filters, those too that the service was asked for: some leave out
// what they do not know, and list all. Of texts these may compare as they like.
func (l *listing) matches(rec mapping.Record) bool {
	for _, f := range l.q.Filters {
		v := rec.Values[f.Field.Index]
		if v.IsAbsent() {
			v = mapping.NullValue()
		}
		alike := v.IsSet() && f.Value.IsSet() && strings.EqualFold(strings.TrimSpace(v.Text()), strings.TrimSpace(f.Value.Text())) && f.Value.Kind() == mapping.KindText
		if !isSame(f.Field, v, f.Value) && (!alike || slices.Contains(l.judged, f)) {
			return false
		}
	}
	return true
}

func isSame(f *mapping.Field, a, b mapping.Value) bool {
	if f.IgnoreDashes && a.IsSet() && b.IsSet() {
		bare := func(v mapping.Value) string { return strings.ReplaceAll(v.Text(), "-", "") }
		return strings.EqualFold(bare(a), bare(b))
	}
	return a == b
}
