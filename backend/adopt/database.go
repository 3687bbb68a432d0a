package adopt

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const (
	mostRows   = 10_000 // of a table that are read
	mostValues = 1000   // of a column that are counted separately
	mostLetter = 200    // of a value
)

// inspect reads the tables of a database, and counts what their first rows look like.
func (d *drafter) inspect(ctx context.Context) error {
	return reading(ctx, &d.source, func(db sqlrecord.DB) error {
		d.dialect = db.Dialect()
		schema, err := legacy.Inspect(ctx, db, &d.source)
		if err != nil {
			return err
		}
		for _, known := range schema.Tables {
			t := &table{name: known.Name, view: known.View, primary: known.Primary, foreign: known.Foreign, lasting: known.Lasting}
			for _, c := range known.Columns {
				t.columns = append(t.columns, &column{
					name: c.Name, kind: c.Type, sort: wordOf(c.Sort), length: c.Length, generated: c.Generated, nullable: c.Nullable,
				})
			}
			d.tables = append(d.tables, t)
			if !t.view {
				t.unread = d.look(ctx, db, t) != nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
}

// reading connects to a database and runs f, in sessions that cannot write.
func reading(ctx context.Context, of *sheet.SQL, f func(sqlrecord.DB) error) error {
	source := *of
	source.Session = append(slices.Clone(of.Session), sqlrecord.ReadOnly(of.Engine))
	db, err := legacy.Connect(ctx, &source, 0, zap.NewNop())
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}

// shapes are types whose values are no texts.
var shapes = regexp.MustCompile(`geom|point|polygon|linestring`)

// look reads the first rows of a table.
func (d *drafter) look(ctx context.Context, db sqlrecord.DB, t *table) error {
	b := legacy.NewBuilder(d.dialect)
	w := sqlrecord.NewWriter(d.dialect, nil).Add("SELECT 1")
	for _, c := range t.columns {
		if c.sort == "bytes" || shapes.MatchString(c.kind) {
			w.Add(", NULL")
		} else {
			w.Add(", SUBSTR(").Expr(b.As(sqlrecord.Plain(d.dialect.Quote(c.name)), sqlrecord.Texts)).Add(", 1, ", strconv.Itoa(mostLetter), ")")
		}
	}
	text, args := w.Add(" FROM ", legacy.Qualified(d.dialect, d.source.Schema, t.name), " LIMIT ", strconv.Itoa(mostRows)).Statement()
	foreign := sqlrecord.Column{Type: mapping.Text, Foreign: true}
	return db.Read(ctx, func(conn sqlrecord.Conn) error {
		t.rows = 0
		for _, c := range t.columns {
			c.filled, c.values = 0, map[string]int{}
		}
		return conn.Query(ctx, text, slices.Repeat([]sqlrecord.Column{foreign}, len(t.columns)+1), args, func(row []mapping.Value) error {
			t.rows++
			for i, c := range t.columns {
				v := row[i+1]
				if !v.IsSet() {
					continue
				}
				c.filled++
				if len(c.values) < mostValues || c.values[v.Text()] > 0 {
					c.values[strings.Clone(v.Text())]++
				}
			}
			return nil
		})
	})
}

// hashForms are what stored passwords look like, by what sheets call them.
var hashForms = []struct {
	algorithm string
	form      *regexp.Regexp
}{
	{"argon2id", regexp.MustCompile(`^\$argon2id\$`)}, {"bcrypt", regexp.MustCompile(`^\$2[aby]\$\d\d\$.{53}$`)}, {"phpass", regexp.MustCompile(`^\$[PH]\$.{31}$`)},
	{"sha512crypt", regexp.MustCompile(`^\$6\$`)}, {"sha256crypt", regexp.MustCompile(`^\$5\$`)}, {"md5crypt", regexp.MustCompile(`^\$1\$`)},
}

// digest matches older hashes, and much else.
var digest = regexp.MustCompile(`^[0-9A-Fa-f]{32}([0-9A-Fa-f]{8}|[0-9A-Fa-f]{32})?$`)

// hashes counts the values of a column that are hashes of passwords by their form (certain, with their
// algorithms), and those that only look like one.
func (c *column) hashes() (certain, alike int, algorithms []string) {
	for v, rows := range c.values {
		v = strings.TrimRight(v, " ")
		for _, of := range hashForms {
			if of.form.MatchString(v) {
				certain += rows
				algorithms = append(algorithms, of.algorithm)
			}
		}
		if digest.MatchString(v) {
			alike += rows
		}
	}
	slices.Sort(algorithms)
	return certain, alike, slices.Compact(algorithms)
}

// wordOf is what sheets call the sort of a column; "" if they have no word for it.
func wordOf(s sqlrecord.Sort) string {
	switch s {
	case sqlrecord.Singles, sqlrecord.Floats:
		s = sqlrecord.Decimals
	case sqlrecord.Padded, sqlrecord.GUIDs:
		s = sqlrecord.Texts
	case sqlrecord.Others:
		return ""
	}
	return string(s)
}
