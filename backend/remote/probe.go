package remote

import (
	"context"
	"slices"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Finding is a difference between the sheet and what the service answered. It proves nothing:
// other records may fit.
type Finding struct {
	Field string // of the interface; "" for the record
	Place string // path in the answer
	What  string
	// Records is how many of the answers it is of, where that is counted.
	Records int
}

// Disordered is the Finding for a list that is not in the order that the sheet says.
const Disordered = "the list is not in its order"

// PassedOver is the Finding for records that the service lists although the sheet hides them,
// or although they belong to another client.
const PassedOver = "records are read past"

// Probed is a page of a resource as it was answered.
type Probed struct {
	Records int
	// Findings are what did not fit the sheet: places that no record had, values that could
	// not be converted.
	Findings []Finding
	// Values are what the first record that has one has at each place.
	Values map[string]sheet.Raw
}

// Probe reads a page of a resource, at most q.Limit records. The error is that of the call
// itself.
func (s *service) Probe(ctx context.Context, m *mapping.Resource, q backend.Query) (Probed, error) {
	r := s.resources[m]
	if r == nil || r.list == nil {
		return Probed{Findings: []Finding{{What: "there is no list to look at"}}}, nil
	}
	l := &listing{s: s, r: r, q: q, v: values{client: q.Client}, owners: s.owners(q.Client), scan: s.scanner(), probing: true}
	defer s.free(l.scan)
	if none, err := l.prepare(ctx); none || err != nil {
		return Probed{}, err
	}
	c, err := l.fetch(ctx, place{})
	if err != nil {
		return Probed{}, err
	}
	rows := c.rows[:min(len(c.rows), q.Limit)]
	var found []Finding
	if len(rows) > 0 {
		found = r.absent(rows)
	}
	last, past := int32(0), 0
	for i := range rows {
		var f Finding
		switch records, shown, err := s.decode(ctx, r, l.owners, rows[i:i+1]); {
		case err != nil:
			f.What = err.Error()
		case !shown[0]:
			if !r.IsNobodys(rows[i].values) {
				past++
			}
			continue
		case r.isByID() && records[0].ID() < last:
			f = Finding{Place: r.Order[0], What: Disordered}
		default:
			last = records[0].ID()
			continue
		}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	if past > 0 {
		found = append(found, Finding{What: PassedOver, Records: past})
	}
	return Probed{len(rows), found, r.firstOf(rows)}, nil
}

// firstOf returns what the first of rows that has something has at each place.
func (r *resource) firstOf(rows []row) map[string]sheet.Raw {
	first := map[string]sheet.Raw{}
	for i, place := range r.Places {
		if at := slices.IndexFunc(rows, func(row row) bool { return row.values[i].IsSet() }); at >= 0 && !place.Whole {
			first[place.Name] = rows[at].values[i]
		}
	}
	return first
}

// absent returns the places that none of the rows has, with the fields that need them.
func (r *resource) absent(rows []row) []Finding {
	missing := func(place string) bool {
		i := slices.IndexFunc(r.Places, func(p sheet.Place) bool { return p.Name == place })
		return i >= 0 && !slices.ContainsFunc(rows, func(row row) bool { return row.values[i].Kind != sheet.RawAbsent })
	}
	var found []Finding
	for _, place := range r.Key.Places {
		if missing(place) {
			found = append(found, Finding{Field: "id", Place: place, What: "no answer has it"})
		}
	}
	nobodys := 0
	for _, row := range rows {
		if r.IsNobodys(row.values) {
			nobodys++
		}
	}
	if nobodys > 0 {
		found = append(found, Finding{Place: r.Client, What: "answers do not tell whose they are", Records: nobodys})
	}
	for _, f := range mapping.Each(r.Fields) {
		for _, place := range f.From {
			if missing(place) {
				found = append(found, Finding{Field: f.Name, Place: place, What: "no answer has it"})
			}
		}
	}
	if r.Version != "" && missing(r.Version) {
		found = append(found, Finding{Place: r.Version, What: "no answer has it, though it is the version"})
	}
	for n, i := range r.arrays {
		there := slices.ContainsFunc(rows, func(row row) bool { return row.lists[n].there })
		if !there && r.get == nil {
			found = append(found, Finding{Field: r.Fields[i].Name, Place: r.Fields[i].Children, What: "no answer has it"})
		}
	}
	return found
}
