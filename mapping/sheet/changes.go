package sheet

import (
	"slices"
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// The ways in which it is known which records have changed.
const (
	ByVersion = "version"
	ByTable   = "table"
	ByFeed    = "feed"
	ByScan    = "scan"
)

// Changes says how the changes of a resource's records are found.
type Changes struct {
	By        string        // ByVersion, ByTable, ByFeed, ByScan, or "" for not at all
	Every     time.Duration // from the end of a look to the next one
	Settle    time.Duration // not ByScan: each look begins this long before the last known change
	Deletions time.Duration // not ByScan: how often all records are read, to find deletions; 0 for never
	Deleted   *Deleted      // ByVersion: the rows that the system has marked; nil where none are
	Pause     time.Duration // between two pages
	Rate      int           // records a second at most; 0 for no other bound than Pause
	Page      int           // records
	Keeps     time.Duration // ByTable, ByFeed: how long the system keeps changes; 0 for ever
	Table     *ChangeTable
	Feed      *Feed
}

// Deleted marks rows as deleted: they have one of the values at the place.
type Deleted struct {
	Place  string
	Values []Raw
}

// ChangeTable is a table of the system with a row for each change.
type ChangeTable struct {
	Name, Sequence string
	Key            []string
	Where          string // SQL; "" for all rows
}

// Feed is a call that answers what has changed.
type Feed struct {
	Request        *Request
	Result         string // path; "" for the answer itself
	Next, Position string // path in the answer, or in an entry
	Start          string
	Key            []string    // paths in an entry
	Only           [][2]string // paths in an entry, with what they must have
	Gone           *Matcher
}

// TellsDeletions tells whether it is known which records have gone.
func (c Changes) TellsDeletions() bool {
	return c.By == ByScan || c.IsTold() || c.Deletions > 0 || c.Deleted != nil
}

// IsTold tells whether the system itself says which records have changed.
func (c Changes) IsTold() bool { return c.By == ByTable || c.By == ByFeed }

// Pace is the least time between a page of so many records and the next one.
func (c Changes) Pace(records int) time.Duration {
	if c.Rate == 0 {
		return c.Pause
	}
	return max(c.Pause, time.Duration(records)*time.Second/time.Duration(c.Rate))
}

// Changes is how it is known which records of a resource of the model have changed.
func (s *Sheet) Changes(r *mapping.Resource) Changes {
	if known := s.byName[r.Name]; known != nil {
		return known.Changes
	}
	return Changes{}
}

// changeKeys are the keys of a section changes that only some ways to look have.
var changeKeys = []struct {
	key string
	by  []string
}{
	{"settle", []string{ByVersion, ByTable, ByFeed}},
	{"deletions", []string{ByVersion, ByTable, ByFeed}},
	{"deleted", []string{ByVersion}},
	{"table", []string{ByTable}},
	{"sequence", []string{ByTable}},
	{"where", []string{ByTable}},
	{"key", []string{ByTable, ByFeed}},
	{"keeps", []string{ByTable, ByFeed}},
	{"feed", []string{ByFeed}},
}

// loadChanges compiles what a section changes says of any resource.
func (l *loader) loadChanges(path string, f changesFile) Changes {
	if !l.doc.Has(path) {
		return Changes{}
	}
	at := func(key string) string { return strictyaml.Child(path, key) }
	if f.By == "" {
		l.fail(at("by"), "missing, expected %s", strictyaml.OneOf(strictyaml.Words[changesFile]("by")))
	}
	if f.By == "none" {
		for _, key := range []string{"every", "settle", "deletions", "deleted", "pause", "rate", "page", "table", "sequence", "where", "key", "keeps", "feed"} {
			if l.doc.Has(at(key)) {
				l.fail(at(key), "found %s where no changes are told, expected by: version or by: scan with it", key)
			}
		}
		return Changes{}
	}
	for _, k := range changeKeys {
		if f.By != "" && l.doc.Has(at(k.key)) && !slices.Contains(k.by, f.By) {
			l.fail(at(k.key), "found %s with by: %s, expected it with by: %s", k.key, f.By, strictyaml.OneOf(k.by))
		}
	}
	every, settle := map[string]time.Duration{ByScan: 10 * time.Minute, ByTable: 10 * time.Second, ByFeed: 10 * time.Second}[f.By], time.Minute
	if every == 0 {
		every = time.Minute
	}
	switch {
	case f.Settle != nil && *f.Settle < 0:
		l.fail(at("settle"), "found %s, expected 0s or more", *f.Settle)
	case f.Settle != nil:
		settle = *f.Settle
	case f.By == ByFeed:
		settle = 0
	}
	return Changes{
		By: f.By, Every: l.duration(at("every"), f.Every, every), Settle: settle,
		Deletions: l.duration(at("deletions"), f.Deletions, 0), Pause: l.duration(at("pause"), f.Pause, 100*time.Millisecond),
		Rate: l.count(at("rate"), f.Rate, 0), Page: l.count(at("page"), f.Page, 500), Keeps: l.duration(at("keeps"), f.Keeps, 0),
	}
}

// changes compiles how changes of the resource are known. The default of the sheet is for
// the resources that it can hold for.
func (d *draft) changes() {
	f := d.file.Changes
	c := d.loadChanges(d.at("changes"), f)
	said := d.doc.Has(d.at("changes"))
	if !said {
		c = d.sheet.changes
	}
	fault := ""
	switch {
	case c.By == "":
	case d.resource.Operations[mapping.OpList] == nil:
		fault = "found no operation list, by which the records would be read"
	case c.By == ByVersion && !d.isDated():
		fault = "found no modified_at that lists can be asked by, expected by: scan"
	case c.By == ByTable && !d.sql():
		fault = "found a table of an HTTP service, expected by: feed"
	case c.By == ByFeed && !d.http():
		fault = "found a feed of a database, expected by: table"
	case c.IsTold() && d.resource.Operations[mapping.OpGet] == nil:
		fault = "found no operation get, by which a record that has changed would be read"
	}
	if fault != "" {
		if said {
			d.fail(d.at("changes", "by"), "%s", fault)
		}
		c = Changes{}
	}
	switch {
	case !said:
	case c.By == ByTable:
		c.Table = d.changeTable(f)
	case c.By == ByFeed:
		c.Feed = d.feed(f)
	case f.Deleted != nil:
		c.Deleted = d.deleted(f.Deleted)
	}
	d.resource.Changes = c
}

// changeKey are the places that name the record which has changed.
func (d *draft) changeKey(given []string) []string {
	if given == nil {
		return d.resource.Key.Places
	}
	if len(given) != len(d.resource.Key.Places) {
		d.fail(d.at("changes", "key"), "found %s, expected one for each part of the key: %s", count(len(given), "place"), count(len(d.resource.Key.Places), "place"))
	}
	for _, name := range given {
		d.isPlace(d.at("changes", "key"), name)
	}
	return given
}

// changeTable compiles the table that says what has changed.
func (d *draft) changeTable(f changesFile) *ChangeTable {
	for key, given := range map[string]string{"table": f.Table, "sequence": f.Sequence} {
		if given == "" {
			d.fail(d.at("changes", key), "missing, expected the %s", map[string]string{"table": "table with a row for each change", "sequence": "column that grows with each change"}[key])
		}
	}
	return &ChangeTable{Name: f.Table, Sequence: f.Sequence, Key: d.changeKey(f.Key), Where: f.Where}
}

// deleted compiles what rows have that are no more.
func (d *draft) deleted(f *deletedFile) *Deleted {
	at := d.at("changes", "deleted")
	if !d.sql() {
		d.fail(at, "found with an HTTP service, expected by: feed, whose call lists what was deleted, too")
	}
	if len(f.Values) == 0 {
		d.fail(strictyaml.Child(at, "values"), "missing, expected what the column has in rows that are no more")
	}
	d.isPlace(strictyaml.Child(at, "column"), f.Column)
	out := &Deleted{Place: f.Column}
	for _, v := range f.Values {
		out.Values = append(out.Values, v.raw())
	}
	return out
}

// feed compiles the call that says what has changed.
func (d *draft) feed(f changesFile) *Feed {
	at := d.at("changes", "feed")
	if f.Feed == nil {
		d.fail(at, "missing, expected the call that answers what has changed")
		return nil
	}
	q := *f.Feed
	out := &Feed{Result: q.Result, Next: q.Next, Position: q.Position, Start: q.Start, Key: d.changeKey(f.Key), Gone: matchStatus("410")}
	out.Request = d.request(at, q.requestFile, callContext{method: "GET", known: []string{"client.id", "client.name", "token", "cursor", "limit"}})
	switch {
	case q.Path == "":
		d.fail(strictyaml.Child(at, "path"), "missing, expected that of the call")
	case !out.Request.Uses("cursor"):
		d.fail(at, "found no {cursor} in the call, expected it where the service takes after what it is asked")
	case (q.Next == "") == (q.Position == ""):
		d.fail(at, "expected one of next, the path of the next cursor in the answer, and position, that in an entry")
	}
	for _, p := range q.Only {
		out.Only = append(out.Only, [2]string{p.Key, p.Value})
	}
	if q.Gone != nil {
		out.Gone = d.matcher(strictyaml.Child(at, "gone"), *q.Gone)
	}
	return out
}
