package sheet

import (
	"cmp"
	"slices"
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// The ways to find which records have changed.
const (
	ByVersion = "version"
	ByTable   = "table"
	ByScan    = "scan"
)

// ReportsDeletions reports whether deletions are found, too.
func (c Changes) ReportsDeletions() bool {
	return c.By == ByScan || c.IsReported() || c.Deletions > 0 || c.Deleted != ""
}

// IsReported reports whether the system itself says which records have changed.
func (c Changes) IsReported() bool { return c.By == ByTable }

// Pace returns the least time between a page of so many records and the next one.
func (c Changes) Pace(records int) time.Duration {
	if c.Rate == 0 {
		return c.Pause
	}
	return max(c.Pause, time.Duration(records)*time.Second/time.Duration(c.Rate))
}

// Changes returns how changed records of a resource of the model are found.
func (s *Sheet) Changes(r *mapping.Resource) Changes {
	if known := s.byName[r.Name]; known != nil {
		return known.Changes
	}
	return Changes{}
}

// changeKeys are the keys of a section changes, with the values of by that have them.
var changeKeys = []struct{ keys, by []string }{
	{[]string{"every", "pause", "rate", "page"}, []string{ByVersion, ByTable, ByScan}},
	{[]string{"settle", "deletions"}, []string{ByVersion, ByTable}},
	{[]string{"deleted"}, []string{ByVersion}},
	{[]string{"table", "sequence", "where", "key", "keeps"}, []string{ByTable}},
}

// loadChanges compiles a section changes, as far as it does not depend on the resource.
func (l *sqlLoader) loadChanges(path string, c Changes) Changes {
	if !l.doc.Has(path) {
		return Changes{}
	}
	at := func(key string) string { return strictyaml.Child(path, key) }
	for _, k := range changeKeys {
		for _, key := range k.keys {
			switch {
			case c.By == "" || !l.doc.Has(at(key)) || slices.Contains(k.by, c.By):
			case c.By == "none":
				l.fail(at(key), "found %s where no changes are told, expected by: version or by: scan with it", key)
			default:
				l.fail(at(key), "found %s with by: %s, expected it with by: %s", key, c.By, strictyaml.OneOf(k.by))
			}
		}
	}
	if c.By == "none" {
		return Changes{}
	}
	if !l.doc.Has(at("settle")) {
		c.Settle = time.Minute
	}
	every := cmp.Or(map[string]time.Duration{ByScan: 10 * time.Minute, ByTable: 10 * time.Second}[c.By], time.Minute)
	c.Every, c.Pause, c.Page = cmp.Or(c.Every, every), cmp.Or(c.Pause, 100*time.Millisecond), cmp.Or(c.Page, 500)
	return c
}

// changes compiles how changes of the resource are found. The sheet's section changes holds for all
// resources that it fits.
func (d *sqlDraft) changes() {
	c, given := d.sql.changes, d.doc.Has(d.at("changes"))
	if given {
		c = d.sql.loadChanges(d.at("changes"), d.file.Changes)
	}
	fault := ""
	switch {
	case c.By == "":
	case !d.has(mapping.OpList):
		fault = "found no operation list, by which the records would be read"
	case c.By == ByVersion && !d.isDated():
		fault = "found no modified_at that lists can be asked by, expected by: scan"
	case c.IsReported() && !d.has(mapping.OpGet):
		fault = "found no operation get, by which a record that has changed would be read"
	}
	switch {
	case fault != "":
		if c = (Changes{}); given {
			d.fail(d.at("changes", "by"), "%s", fault)
		}
	case given && c.IsReported():
		d.changeTable(&c)
	}
	d.sql.judgeSQL(d.at("changes", "where"), c.Where)
	d.sql.judgeSQL(d.at("changes", "deleted"), c.Deleted)
	d.resource.Changes = c
}

// changeTable judges the table that lists changes.
func (d *sqlDraft) changeTable(c *Changes) {
	if c.Table == "" {
		d.fail(d.at("changes", "table"), "missing, expected the table with a row for each change")
	}
	if c.Sequence == "" {
		d.fail(d.at("changes", "sequence"), "missing, expected the column that grows with each change")
	}
	of := d.resource.Key.Places
	if c.Key == nil {
		c.Key = of
	}
	if len(c.Key) != len(of) {
		d.fail(d.at("changes", "key"), "found %s, expected one for each part of the key: %s", count(len(c.Key), "place"), count(len(of), "place"))
	}
	for _, name := range c.Key {
		d.sql.isPlace(d.at("changes", "key"), name)
	}
}
