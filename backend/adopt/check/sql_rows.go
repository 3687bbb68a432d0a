package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// rows reads some rows, and looks for what does not convert.
func (c *resourceCheck) rows(ctx context.Context) error {
	if c.AsksClient() && len(c.clients) == 0 {
		c.add(Note, "sql.no-client", c.path, "no client is known whose rows could be looked at", "check again when there are users, or rows")
	}
	rows, err := c.reader.Sample(ctx, c.Resource, c.clients, c.Rows)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.add(Error, "sql.statement", c.path, fmt.Sprintf("its rows cannot be read: %s", c.words(err)), "mend where, sql or lookup")
		return nil
	}
	c.Looked = append(c.Looked, fmt.Sprintf("%s: %d row(s) of %s", c.Name, len(rows), c.read.Name))
	t := rowFaults{map[*sheet.Field]*fieldFault{}, map[*sheet.Field]int{}, map[*sheet.Field]int{}, map[*sheet.Field]int{}, map[*sheet.Field]int{}}
	at := map[string]int{}
	for i, p := range c.Places {
		at[p.Name] = i
	}
	nobodys := 0
	for _, row := range rows {
		if c.IsNobodys(row) {
			nobodys++
		}
		for _, u := range c.Unfit(row) {
			if t.unfit[u.Field] == nil {
				t.unfit[u.Field] = &fieldFault{example: u.Value, why: u.Why}
			}
			t.unfit[u.Field].n++
		}
		for _, f := range mapping.Each(c.Fields) {
			if (f.Required || c.dates(f)) && c.IsNull(f, row) {
				t.null[f]++
			}
			if c.Forgets(f, row) {
				t.lost[f]++
			}
			if len(f.From) == 1 && f.Traits().Placed && isCut(f, row[at[f.From[0]]]) {
				t.cut[f]++
			}
			if f.Type == mapping.Varchar && len(f.From) == 1 && f.Traits().Codes == nil && len([]rune(strings.TrimRight(row[at[f.From[0]]].Text, " "))) > f.Length {
				t.long[f]++
			}
		}
	}
	if nobodys > 0 {
		c.add(Warning, "data.nobody", c.at("client"), fmt.Sprintf("%d of %d row(s) belong to no client", nobodys, len(rows)), "nobody will see them: mend the rows, or name another place")
	}
	c.tell(t, len(rows))
	if len(rows) > 0 {
		c.withNulls(rows[0])
	}
	if err := c.beyond(ctx); err != nil {
		return err
	}
	return c.values(ctx)
}

// noise is how many decimals of a number in floating point are meant at most.
const noise = 9

// isCut tells whether a number has decimals that the scale of a field leaves out.
func isCut(f *sheet.Field, v sheet.Raw) bool {
	if f.Type != mapping.Float8 || f.Scale < 0 || v.Kind != sheet.RawNumber {
		return false
	}
	number, _, err := apd.NewFromString(v.Text)
	if err != nil {
		return false // see Unfit
	}
	whole, known := mapping.DecimalOf(number, noise)
	kept, fits := mapping.DecimalOf(number, f.Scale)
	return known && fits && whole.Decimal().Cmp(kept.Decimal()) != 0
}

// words are an error of the database without the values that it quotes.
func (c *resourceCheck) words(err error) string {
	said := c.Where
	for _, p := range c.Places {
		said += " " + p.Name + " " + p.SQL
	}
	return maskedText(err.Error(), said)
}

// dates tells whether lists are narrowed by a field to what has changed.
func (c *resourceCheck) dates(f *sheet.Field) bool {
	return f == &c.Fields[c.ModifiedAt] && !c.Undated
}

// withNulls looks for fields that cannot be computed of a row once a column is null, as it
// may be in another.
func (c *resourceCheck) withNulls(row []sheet.Raw) {
	whole := c.Unfit(row)
	for i, p := range c.Places {
		column := c.read.Column(p.Name)
		if column == nil || !column.Nullable || !row[i].IsSet() {
			continue
		}
		lacking := slices.Clone(row)
		lacking[i] = sheet.Raw{Kind: sheet.RawNull}
		for _, u := range c.Unfit(lacking) {
			if !u.Field.Primary && !slices.ContainsFunc(whole, func(w sheet.Unfit) bool { return w.Field == u.Field }) {
				c.add(Warning, "sql.null-fails", c.ofField(u.Field), fmt.Sprintf("%s.%s may be null, and then %s", c.read.Name, column.Name, u.Why),
					fmt.Sprintf("say what the field is then: row.%s == null ? dyn(null) : …", p.Name))
			}
		}
	}
}

// rowFaults count what is wrong with rows, by field.
type rowFaults struct {
	unfit map[*sheet.Field]*fieldFault
	// null, too long, lost where set writes what was read, and with decimals that are cut
	null, long, lost, cut map[*sheet.Field]int
}

type fieldFault struct {
	n       int
	example sheet.Raw
	why     string
}

func (c *resourceCheck) tell(all rowFaults, rows int) {
	for _, f := range mapping.Each(c.Fields) {
		if u := all.unfit[f]; u != nil && f.Traits().Codes == nil {
			c.add(Error, "data.unfit", c.ofField(f), fmt.Sprintf("%d of %d row(s) have a %s that does not convert: %s (such as %s)", u.n, rows, f.Name, u.why, masked(u.example)),
				"mend the conversion, list the value under zero, or mend the rows")
		}
		if n := all.null[f]; n > 0 && c.dates(f) {
			c.add(Warning, "data.undated", c.ofField(f), fmt.Sprintf("%d of %d row(s) have no %s, and lists by modified_since never have them", n, rows, f.Name), "name a column that every row has, or readonly sql")
		} else if n > 0 {
			c.add(Warning, "data.null", c.ofField(f), fmt.Sprintf("%d of %d row(s) have no %s, which the interface requires", n, rows, f.Name), "clients will see null; a default, cel or mended rows avoid it")
		}
		if n := all.lost[f]; n > 0 {
			c.add(Warning, "data.set", c.ofField(f), fmt.Sprintf("of %d of %d row(s) set writes something else than there is where a client sends back the %s that it reads", n, rows, f.Name),
				"what the row says besides is lost: let set keep it, by row, as in row.STATUS")
		}
		if n := all.cut[f]; n > 0 {
			c.add(Warning, "data.scale", c.ofField(f), fmt.Sprintf("%d of %d row(s) have a %s with more than the %d decimals that are kept", n, rows, f.Name, f.Scale),
				"clients read it rounded: say how many decimals there are by scale")
		}
		if n := all.long[f]; n > 0 {
			c.add(Note, "data.long", c.ofField(f), fmt.Sprintf("%d of %d row(s) have a longer %s than the %d characters of the interface", n, rows, f.Name, f.Length), "clients read it whole, but cannot write it back")
		}
	}
}

// values looks at all values of coded and unique columns.
func (c *resourceCheck) values(ctx context.Context) error {
	for _, f := range mapping.Each(c.Fields) {
		t := f.Traits()
		if len(f.From) == 0 || c.read.Column(f.From[0]) == nil {
			continue
		}
		if t.Codes != nil {
			if err := c.codes(ctx, f, t); err != nil {
				return err
			}
		}
		if f.Unique && f.UniquePer == "" && len(f.UniqueWhen) == 0 && t.Placed {
			if err := c.duplicates(ctx, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostCodes is how many values of a column are looked at.
const mostCodes = 500

func (c *resourceCheck) codes(ctx context.Context, f *sheet.Field, t sheet.Traits) error {
	found, err := c.reader.Distinct(ctx, c.Read, f.From[0], mostCodes, 0)
	if err != nil {
		return err
	}
	var unknown []string
	for _, v := range found {
		text := v.String()
		if v.IsSet() && !slices.Contains(t.Codes, text) && !slices.Contains(t.Codes, strings.TrimRight(text, " ")) {
			unknown = append(unknown, fmt.Sprintf("%q", strings.TrimRight(text, " ")))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	more := ""
	if len(unknown) > 10 {
		more = fmt.Sprintf(" and %d more", len(unknown)-10)
		unknown = unknown[:10]
	}
	severity, becomes := Note, "they become "+t.Unknown
	if t.Unknown == "" || t.Unknown == "fail" {
		severity, becomes = Error, "a list with such a record fails"
	}
	c.add(severity, "data.unknown-code", c.ofField(f), fmt.Sprintf("%s.%s has codes that are not in the list: %s%s; %s", c.read.Name, f.From[0], strings.Join(unknown, ", "), more, becomes),
		"list them under codes, or say unknown: \"null\"")
	return nil
}

func (c *resourceCheck) duplicates(ctx context.Context, f *sheet.Field) error {
	columns := slices.Clone(f.From)
	if c.Client != "" && !slices.Contains(columns, c.Client) {
		columns = append([]string{c.Client}, columns...)
	}
	n, example := 0, []sheet.Raw(nil)
	for _, client := range c.ofWhere() {
		found, one, err := c.reader.Repeated(ctx, c.Read, columns, c.Where, client, 100)
		if err != nil {
			return err
		}
		if n += found; found > 0 {
			example = one
		}
	}
	if n == 0 || f.Traits().Null && strings.TrimSpace(example[len(example)-1].String()) == "" {
		return nil
	}
	more := ""
	if n >= 100 {
		more = "at least "
	}
	c.add(Warning, "data.duplicate", c.ofField(f), fmt.Sprintf("%s%d value(s) of %s stand in more than one row of a client (such as %s)", more, n, f.Name, masked(example[len(example)-1])), "the interface promises one: mend the rows")
	return nil
}
