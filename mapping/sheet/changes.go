package sheet

import (
	"cmp"
	"slices"
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// The ways in which it is known which records have changed.
const (
	ByVersion = "version"
	ByTable   = "table"
	ByScan    = "scan"
)

// Changes says how the changes of a resource's records are found.
type Changes struct {
	By        string        // ByVersion, ByTable, ByScan, or "" for not at all
	Every     time.Duration // from the end of a look to the next one
	Settle    time.Duration // not ByScan: each look begins this long before the last known change
	Deletions time.Duration // not ByScan: how often all records are read, to find deletions; 0 for never
	Deleted   *Deleted      // ByVersion: the rows that the system has marked; nil where none are
	Pause     time.Duration // between two pages
	Rate      int           // records a second at most; 0 for no other bound than Pause
	Page      int           // records
	Keeps     time.Duration // ByTable: how long the system keeps changes; 0 for ever
	Table     *ChangeTable
}

// Deleted marks rows as deleted: they have one of the values at the place.
type Deleted struct {
	Place  string // a column
	Values []string
}

// ChangeTable is a table of the system with a row for each change.
type ChangeTable struct {
	Name, Sequence string
	Key            []string
	Where          string // SQL; "" for all rows
}

// TellsDeletions tells whether it is known which records have gone.
func (c Changes) TellsDeletions() bool {
	return c.By == ByScan || c.IsTold() || c.Deletions > 0 || c.Deleted != nil
}

// IsTold tells whether the system itself says which records have changed.
func (c Changes) IsTold() bool { return c.By == ByTable }

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

// changeKeys are the keys of a section changes, with the ways to look that have them.
var changeKeys = []struct {
	key string
	by  []string
}{
	{"every", []string{ByVersion, ByTable, ByScan}},
	{"pause", []string{ByVersion, ByTable, ByScan}},
	{"rate", []string{ByVersion, ByTable, ByScan}},
	{"page", []string{ByVersion, ByTable, ByScan}},
	{"settle", []string{ByVersion, ByTable}},
	{"deletions", []string{ByVersion, ByTable}},
	{"deleted", []string{ByVersion}},
	{"table", []string{ByTable}},
	{"sequence", []string{ByTable}},
	{"where", []string{ByTable}},
	{"key", []string{ByTable}},
	{"keeps", []string{ByTable}},
}

// loadChanges compiles what a section changes says of any resource.
func (l *sqlLoader) loadChanges(path string, f changesFile) Changes {
	if !l.doc.Has(path) {
		return Changes{}
	}
	at := func(key string) string { return strictyaml.Child(path, key) }
	if f.By == "" {
		l.fail(at("by"), "missing, expected %s", strictyaml.OneOf(strictyaml.Words[changesFile]("by")))
	}
	for _, k := range changeKeys {
		switch {
		case f.By == "" || !l.doc.Has(at(k.key)) || slices.Contains(k.by, f.By):
		case f.By == "none":
			l.fail(at(k.key), "found %s where no changes are told, expected by: version or by: scan with it", k.key)
		default:
			l.fail(at(k.key), "found %s with by: %s, expected it with by: %s", k.key, f.By, strictyaml.OneOf(k.by))
		}
	}
	if f.By == "none" {
		return Changes{}
	}
	settle := time.Minute
	if f.Settle != nil {
		if settle = *f.Settle; settle < 0 {
			l.fail(at("settle"), "found %s, expected 0s or more", settle)
		}
	}
	every := cmp.Or(map[string]time.Duration{ByScan: 10 * time.Minute, ByTable: 10 * time.Second}[f.By], time.Minute)
	return Changes{
		By: f.By, Every: positive(l.loader, at("every"), f.Every, every), Settle: settle,
		Deletions: positive(l.loader, at("deletions"), f.Deletions, 0), Pause: positive(l.loader, at("pause"), f.Pause, 100*time.Millisecond),
		Rate: positive(l.loader, at("rate"), f.Rate, 0), Page: positive(l.loader, at("page"), f.Page, 500), Keeps: positive(l.loader, at("keeps"), f.Keeps, 0),
	}
}

// changes compiles how changes of the resource are known. The default of the sheet is for
// the resources that it can hold for.
func (d *sqlDraft) changes() {
	f, said := d.file.Changes, d.doc.Has(d.at("changes"))
	c := d.sql.changes
	if said {
		c = d.sql.loadChanges(d.at("changes"), f)
	}
	fault := ""
	switch {
	case c.By == "":
	case !d.has(mapping.OpList):
		fault = "found no operation list, by which the records would be read"
	case c.By == ByVersion && !d.isDated():
		fault = "found no modified_at that lists can be asked by, expected by: scan"
	case c.IsTold() && !d.has(mapping.OpGet):
		fault = "found no operation get, by which a record that has changed would be read"
	}
	switch {
	case fault != "":
		if c = (Changes{}); said {
			d.fail(d.at("changes", "by"), "%s", fault)
		}
	case said && c.By == ByTable:
		c.Table = d.changeTable(f)
	case said && f.Deleted != nil:
		c.Deleted = d.deleted(f.Deleted)
	}
	d.sql.judgeRead(d.at("changes", "where"), f.Where)
	d.resource.Changes = c
}

// changeTable compiles the table that says what has changed.
func (d *sqlDraft) changeTable(f changesFile) *ChangeTable {
	if f.Table == "" {
		d.fail(d.at("changes", "table"), "missing, expected the table with a row for each change")
	}
	if f.Sequence == "" {
		d.fail(d.at("changes", "sequence"), "missing, expected the column that grows with each change")
	}
	key, of := []string(f.Key), d.resource.Key.Places
	if key == nil {
		key = of
	}
	if len(key) != len(of) {
		d.fail(d.at("changes", "key"), "found %s, expected one for each part of the key: %s", count(len(key), "place"), count(len(of), "place"))
	}
	for _, name := range key {
		d.sql.isPlace(d.at("changes", "key"), name)
	}
	return &ChangeTable{Name: f.Table, Sequence: f.Sequence, Key: key, Where: f.Where}
}

// deleted compiles what rows have that are no more.
func (d *sqlDraft) deleted(f *deletedFile) *Deleted {
	at := d.at("changes", "deleted")
	if len(f.Values) == 0 {
		d.fail(strictyaml.Child(at, "values"), "missing, expected what the column has in rows that are no more")
	}
	d.sql.isPlace(strictyaml.Child(at, "column"), f.Column)
	out := &Deleted{Place: f.Column}
	for _, v := range f.Values {
		out.Values = append(out.Values, v.text)
	}
	return out
}
