package draft

import (
	"context"
	"fmt"

	"frontdesk/backend/adopt/survey"
	"frontdesk/backend/legacy"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// inspect takes the tables of a database.
func (d *drafter) inspect(ctx context.Context, reader *survey.Reader) error {
	schema, err := reader.Inspect(ctx, &sheet.Sheet{})
	if err != nil {
		return err
	}
	for _, known := range schema.Tables {
		t := &table{name: known.Name, view: known.View, primary: known.Primary, foreign: known.Foreign}
		for _, c := range known.Columns {
			t.columns = append(t.columns, &column{
				name: c.Name, sort: wordOf(c.Sort), length: c.Length, generated: c.Generated, nullable: c.Nullable,
			})
		}
		d.tables = append(d.tables, t)
	}
	for _, r := range d.model.Resources {
		if t := d.called(r); t != nil {
			if err := t.countWords(ctx, reader, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// countWords counts what a table has where the interface knows some words only.
func (t *table) countWords(ctx context.Context, reader *survey.Reader, r *mapping.Resource) error {
	for _, f := range mapping.Each(r.Fields) {
		c := t.calledAs(f)
		if len(f.OneOf) == 0 || c == nil || c.sort != "text" && c.sort != "integer" {
			continue
		}
		values, others, err := reader.Words(ctx, t.name, c.name, f.OneOf)
		if err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
		c.values, c.others = int(values), int(others)
	}
	return nil
}

// wordOf is what sheets call the sort of a column; "" if they have no word for it.
func wordOf(s legacy.Sort) string {
	switch s {
	case legacy.Singles, legacy.Floats:
		s = legacy.Decimals
	case legacy.Padded, legacy.GUIDs:
		s = legacy.Texts
	case legacy.Others:
		return ""
	}
	return string(s)
}
