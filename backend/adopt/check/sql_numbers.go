package check

import (
	"context"
	"fmt"
	"math"
	"slices"

	"frontdesk/backend/legacy"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// narrow notes a column of whole numbers that takes fewer than clients may send.
func (c *resourceCheck) narrow(f *sheet.Field, column *legacy.Column) {
	least, most, known := column.Span(c.Sheet.Source.SQL.Engine)
	t := f.Traits()
	if !known || f.Type != mapping.Int4 || !t.Placed || t.Codes != nil || len(f.OneOf) > 0 || len(f.Write) == 0 || !writes(c.Resource) || least <= math.MinInt32 && most >= math.MaxInt32 {
		return
	}
	c.add(Note, "sql.too-narrow", c.ofField(f), fmt.Sprintf("%s.%s is %s: it takes %d to %d, and clients may send more", c.read.Name, column.Name, column.Type, least, most),
		"clients are refused what it does not take; make it wider where that is not meant")
}

// beyond counts rows whose whole numbers clients cannot be told.
func (c *resourceCheck) beyond(ctx context.Context) error {
	if !c.Key.Kept {
		column := c.Key.Places[len(c.Key.Places)-1]
		if err := c.countBeyond(ctx, c.at("key"), column, nil, "say id: kept: such rows fail every list that they are in"); err != nil {
			return err
		}
	}
	for _, f := range mapping.Each(c.Fields) {
		t := f.Traits()
		if f.Type != mapping.Int4 || !t.Placed || t.Codes != nil || f.Primary || len(f.From) != 1 {
			continue
		}
		if err := c.countBeyond(ctx, c.ofField(f), f.From[0], f.Nulls(), "leave the field out, or say under zero what stands for none: such rows fail every list that they are in"); err != nil {
			return err
		}
	}
	return nil
}

// countBeyond counts those of one column, where it is wider than an int4.
func (c *resourceCheck) countBeyond(ctx context.Context, path, name string, other []sheet.Raw, cure string) error {
	engine, column := c.Sheet.Source.SQL.Engine, c.read.Column(name)
	if column == nil || !slices.Contains([]string{"integer", "decimal"}, column.Sort(engine)) {
		return nil
	}
	if least, most, known := column.Span(engine); known && least >= math.MinInt32 && most <= math.MaxInt32 {
		return nil
	}
	n := int64(0)
	for _, client := range c.ofWhere() {
		found, err := c.reader.Beyond(ctx, c.Read, name, c.Where, client, math.MinInt32, math.MaxInt32, other)
		if err != nil {
			return err
		}
		n += found
	}
	if n > 0 {
		c.add(Error, "data.beyond", path, fmt.Sprintf("%d row(s) of %s have a %s beyond the whole numbers of the interface (int4)", n, c.read.Name, name), cure)
	}
	return nil
}

// ofWhere are the clients to look as: those that are known where the sheet's condition asks for
// one, else nobody.
func (c *resourceCheck) ofWhere() []int64 {
	if sheet.FindParameter(c.Where, sheet.ClientParameter) >= 0 {
		return c.clients
	}
	return []int64{0}
}
