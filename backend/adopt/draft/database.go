package draft

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/mapping"
)

const (
	mostWords = 24      // different values of a column that are still looked at
	searched  = 100_000 // rows whose values are looked at
)

// inspect takes the tables of a database.
func (d *drafter) inspect(ctx context.Context, reader *legacy.Reader) error {
	schema, err := reader.Inspect(ctx)
	if err != nil {
		return err
	}
	for _, known := range schema.Tables {
		t := &table{name: known.Name, view: known.View, primary: known.Primary, foreign: known.Foreign}
		for _, c := range known.Columns {
			t.columns = append(t.columns, &column{
				name: c.Name, sort: c.Sort(d.source.Engine), length: c.Length, generated: c.Generated, nullable: c.Nullable,
				padded: c.Type == "char" || c.Type == "character" || c.Type == "bpchar",
			})
		}
		d.tables = append(d.tables, t)
	}
	for _, r := range d.model.Resources {
		if t := d.called(r); t != nil {
			if err := t.readWords(ctx, reader, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// readWords reads what a table has where the interface knows some words only.
func (t *table) readWords(ctx context.Context, reader *legacy.Reader, r *mapping.Resource) error {
	for _, f := range mapping.Each(r.Fields) {
		c := t.calledAs(f)
		if len(f.OneOf) == 0 || c == nil || c.sort != "text" && c.sort != "integer" {
			continue
		}
		found, err := reader.Distinct(ctx, t.name, c.name, mostWords+1, searched)
		if err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
		for _, v := range found {
			if v.IsSet() && len(found) <= mostWords {
				c.words = append(c.words, strings.TrimRight(v.String(), " "))
			}
		}
	}
	return nil
}
