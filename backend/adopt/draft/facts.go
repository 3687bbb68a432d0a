package draft

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/mapping/sheet"
)

// table is a table with what its names and rows tell.
type table struct {
	*legacy.Table
	parts      []part
	columns    []*column
	texts      []string // of its triggers
	sampled    int      // rows that were looked at
	lists      []string // paths of lists within the records of a service
	undeclared []string // columns that refer to others, as their values tell
}

// column is a column with what its name and values tell.
type column struct {
	*legacy.Column
	of     *table
	parts  []part
	sort   sort
	values []string // those sampled that are set, blanks behind them taken off
	// few are all different values, null left out, where they are few; nil else.
	few     []string
	padded  bool // some sampled value ends in blanks
	empties int  // sampled values that are empty
	clock   bool // sampled dates have a time of day
	kept    bool // the engine or a trigger fills it
	used    string
}

// sort is what a column can hold, as sheets call it.
type sort string

const (
	sortText      sort = "text"
	sortInteger   sort = "integer"
	sortDecimal   sort = "decimal"
	sortBoolean   sort = "boolean"
	sortDate      sort = "date"
	sortDatetime  sort = "datetime"
	sortTimestamp sort = "timestamp"
	sortBytes     sort = "bytes"
	sortOther     sort = ""
)

const (
	sampled = 400 // rows looked at per table
	fewest  = 24  // different values that are still a code list
	// searched is how many rows are searched for the values of a code list.
	searched = 100_000
)

// look reads what each table has, and some rows of it.
func (d *drafter) look(ctx context.Context) error {
	schema, err := d.reader.Inspect(ctx)
	if err != nil {
		return err
	}
	d.schema = schema
	texts, err := d.reader.Programs(ctx)
	if err != nil {
		return fmt.Errorf("read the triggers: %w", err)
	}
	if d.routines, err = d.reader.Routines(ctx); err != nil {
		return fmt.Errorf("read the routines: %w", err)
	}
	if d.charset, err = d.reader.Charset(ctx); err != nil {
		return fmt.Errorf("read the charset: %w", err)
	}
	for i := range schema.Tables {
		t := &table{Table: &schema.Tables[i], parts: d.words.split(schema.Tables[i].Name), texts: texts[schema.Tables[i].Name]}
		for k := range t.Columns {
			c := &column{Column: &t.Columns[k], of: t, parts: d.words.split(t.Columns[k].Name), sort: sort(t.Columns[k].Sort(d.source.Engine))}
			if c.Type == "" { // as in SQLite, where any may hold texts
				c.sort = sortText
			}
			if strings.HasPrefix(d.source.Engine, "m") && c.sort != sortInteger && c.Default != "" && c.Default != "NULL" && !strings.Contains(strings.ToLower(c.Default), "current_") && bareDefault.MatchString(c.Default) {
				c.Default = "'" + c.Default + "'" // MySQL tells it without quotes
			}
			c.kept = c.Generated || keeps(t.texts, c.Name) || strings.Contains(strings.ToLower(c.Default), "current_timestamp") || strings.Contains(strings.ToLower(c.Default), "now()")
			t.columns = append(t.columns, c)
		}
		d.tables = append(d.tables, t)
		if t.View {
			continue
		}
		if err := d.sample(ctx, t); err != nil {
			if ctx.Err() != nil || len(d.unread)+1 == len(schema.Tables) {
				return fmt.Errorf("read %s: %w", t.Name, err)
			}
			d.unread = append(d.unread, t.Name) // the account may not, or it is broken
		}
	}
	d.tables = slices.DeleteFunc(d.tables, func(t *table) bool { return slices.Contains(d.unread, t.Name) })
	return nil
}

// dropPrefixes leaves out what names of several tables begin with and is no word: llx of
// llx_commande, or the letters of a module.
func (d *drafter) dropPrefixes() {
	begins := func(t *table) string {
		if len(t.parts) > 1 && len(t.parts[0].ideas) == 0 {
			return t.parts[0].text
		}
		return ""
	}
	count := map[string]int{}
	for _, t := range d.tables {
		count[begins(t)]++
	}
	for _, t := range d.tables {
		if first := begins(t); first != "" && count[first] > 1 {
			t.parts = t.parts[1:]
		}
	}
}

// bareDefault is a default that is a value, and not quoted.
var bareDefault = regexp.MustCompile(`^[^'(]*$`)

// keeps tells whether a trigger gives a column its value.
func keeps(texts []string, column string) bool {
	set := regexp.MustCompile(`(?i)\bnew\s*\.\s*["` + "`" + `\[]?` + regexp.QuoteMeta(column) + `["` + "`" + `\]]?\s*:?=`)
	return slices.ContainsFunc(texts, set.MatchString)
}

func (d *drafter) sample(ctx context.Context, t *table) error {
	of := make([]legacy.Expression, len(t.columns))
	for i, c := range t.columns {
		if c.sort != sortBytes && c.sort != sortOther {
			of[i].Column = c.Name
		}
	}
	rows, err := d.reader.Rows(ctx, t.Name, of, "", 0, sampled)
	if err != nil {
		return err
	}
	t.sampled = len(rows)
	for i, c := range t.columns {
		different := map[string]bool{}
		for _, row := range rows {
			if !row[i].IsSet() {
				continue
			}
			if d.source.Engine == "sqlite" && row[i].Kind == sheet.RawText && c.sort != sortBytes {
				c.sort = sortText // whatever the column is declared as
			}
			text := row[i].String()
			trimmed := strings.TrimRight(text, " ")
			c.padded = c.padded || trimmed != text
			c.clock = c.clock || row[i].Kind == sheet.RawWall && row[i].Int%(24*3600*1000) != 0
			if trimmed == "" {
				c.empties++
			}
			c.values = append(c.values, trimmed)
			different[trimmed] = true
		}
		if len(different) > 0 && len(different) <= fewest {
			if err := d.findFew(ctx, t, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// findFew looks for all different values of a column that has few.
func (d *drafter) findFew(ctx context.Context, t *table, c *column) error {
	if short := c.sort == sortText && c.Length > 0 && c.Length <= 20 || c.sort == sortInteger || c.sort == sortBoolean; !short {
		return nil
	}
	found, err := d.reader.Distinct(ctx, t.Name, c.Name, fewest+2, searched)
	if err != nil || len(found) > fewest+1 {
		return err
	}
	for _, v := range found {
		if text := strings.TrimRight(v.String(), " "); v.IsSet() && !slices.Contains(c.few, text) {
			c.few = append(c.few, text)
		}
	}
	if text, ok := literal(c.Default); ok && !slices.Contains(c.few, text) && c.sort == sortText {
		c.few = append(c.few, text)
	}
	slices.Sort(c.few)
	return nil
}

// has tells whether the column's name has one of the ideas.
func (c *column) has(ideas ...string) bool {
	return hasIdea(c.parts, ideas...)
}

func hasIdea(name []part, ideas ...string) bool {
	return slices.ContainsFunc(name, func(p part) bool {
		return slices.ContainsFunc(ideas, func(idea string) bool { return slices.Contains(p.ideas, idea) })
	})
}

func (t *table) column(name string) *column {
	for _, c := range t.columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// unique tells whether no two rows share the column, in one client at least.
func (d *drafter) unique(c *column) bool {
	return slices.ContainsFunc(c.of.Indexes, func(i legacy.Index) bool {
		own := slices.DeleteFunc(slices.Clone(i.Columns), func(name string) bool { return strings.EqualFold(name, d.client) })
		return i.Unique && len(own) == 1 && own[0] == c.Name
	})
}
