package remote

import (
	"context"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Seen is a record that the service answered, for tools that compare a sheet with a service.
type Seen struct {
	Record       mapping.Record // without its owner; only the ID if it cannot be shown
	Client       int64          // 0 for records of all clients
	Row          map[string]any // as the service has it
	Absent       []int          // the positions of the fields that it lacks
	Hidden, Gone bool
	Faults       []Fault // why it cannot be shown
	Within       []Seen  // the elements within it
}

// Fault is why a record cannot be shown: Of is the field, or the key of the sheet, that fails.
type Fault struct {
	Of  string
	Err error
}

// Walk calls each for the records of each page of the service's list, including those that cannot be
// shown. With since, the records are those that have changed since; nil for all. The copy stays as it is.
func (d *Driver) Walk(ctx context.Context, m *mapping.Resource, client auth.Client, since *string, each func([]Seen)) error {
	r := d.Sheet.Resources[m]
	if err := d.copy.parents(ctx, r, client); err != nil {
		return err
	}
	_, err := d.conn.walk(ctx, r, client, since, func(rows []sheet.JSON) error {
		page, err := d.conn.take(ctx, r, client, rows)
		all := make([]Seen, len(page))
		for i := range page {
			all[i] = seenAs(&page[i], page[i].client)
		}
		if err == nil {
			each(all)
		}
		return err
	}, auth.Sleep)
	return err
}

// Read reads a record from the service by itself.
func (d *Driver) Read(ctx context.Context, m *mapping.Resource, client auth.Client, id int32) (Seen, error) {
	t, err := d.copy.fetch(ctx, d.Sheet.Resources[m], client, id)
	if err != nil {
		return Seen{}, err
	}
	return seenAs(&t, t.client), t.err
}

func seenAs(t *taken, client int64) Seen {
	s := Seen{Record: t.rec, Client: client, Row: ownOf(t.raw.Object()), Absent: t.absent, Hidden: t.hidden, Gone: t.gone, Faults: t.faults}
	for _, e := range t.elements {
		s.Within = append(s.Within, seenAs(e, client))
	}
	return s
}

// Target is the resource whose ID a field holds in a record; nil for none.
func (d *Driver) Target(f *mapping.Field, rec mapping.Record) *mapping.Resource {
	if of := d.conn.target(f, rec); of != nil {
		return of.Resource
	}
	return nil
}

// Client returns the client that the service knows by a text, if clients are kept.
func (d *Driver) Client(ctx context.Context, text string) (auth.Client, error) {
	numbers, err := d.conn.clientNumbers(ctx, []string{text})
	return auth.Client{ID: numbers[text], Name: text}, err
}
