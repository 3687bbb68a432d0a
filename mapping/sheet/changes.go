package sheet

import (
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// The ways in which it is known which records have changed.
const (
	ByVersion = "version"
	ByScan    = "scan"
)

// Changes is how it is known which records of a resource have changed.
type Changes struct {
	By        string        // ByVersion, ByScan, or "" for not at all
	Every     time.Duration // from the end of a look to the next one
	Settle    time.Duration // ByVersion: so long before the last known change is looked from
	Deletions time.Duration // ByVersion: how often all records are read; 0 for never
	Pause     time.Duration // between two pages
	Page      int           // records
}

// TellsDeletions tells whether it is known which records have gone.
func (c Changes) TellsDeletions() bool { return c.By == ByScan || c.Deletions > 0 }

// Changes is how it is known which records of a resource of the model have changed.
func (s *Sheet) Changes(r *mapping.Resource) Changes {
	if known := s.byName[r.Name]; known != nil {
		return known.Changes
	}
	if s.Source.Frontdesk != nil {
		return s.changes
	}
	return Changes{}
}

// loadChanges compiles a section changes.
func (l *loader) loadChanges(path string, f changesFile) Changes {
	if !l.doc.Has(path) {
		return Changes{}
	}
	at := func(key string) string { return strictyaml.Child(path, key) }
	if f.By == "" {
		l.fail(at("by"), "missing, expected %s", strictyaml.OneOf(strictyaml.Words[changesFile]("by")))
	}
	if f.By == "none" {
		for _, key := range []string{"every", "settle", "deletions", "pause", "page"} {
			if l.doc.Has(at(key)) {
				l.fail(at(key), "found %s where no changes are told, expected by: version or by: scan with it", key)
			}
		}
		return Changes{}
	}
	every := time.Minute
	if f.By == ByScan {
		every = 10 * time.Minute
		for _, key := range []string{"settle", "deletions"} {
			if l.doc.Has(at(key)) {
				l.fail(at(key), "found %s with by: scan, which reads all records each time, expected by: version with it", key)
			}
		}
	}
	return Changes{
		By: f.By, Every: l.duration(at("every"), f.Every, every), Settle: l.duration(at("settle"), f.Settle, time.Minute),
		Deletions: l.duration(at("deletions"), f.Deletions, 0), Pause: l.duration(at("pause"), f.Pause, 100*time.Millisecond),
		Page: l.count(at("page"), f.Page, 500),
	}
}

// changes compiles how changes of the resource are known. The default of the sheet is for
// the resources that it can hold for.
func (d *draft) changes() {
	c := d.loadChanges(d.at("changes"), d.file.Changes)
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
	}
	if fault != "" {
		if said {
			d.fail(d.at("changes", "by"), "%s", fault)
		}
		c = Changes{}
	}
	d.resource.Changes = c
}
