package draft

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/mapping"
)

// convertNumber handles decimals, and integers that imply some.
func (d *drafter) convertNumber(f *mapping.Field, c *column, out *mapped) {
	switch {
	case d.http != nil && c.sort != sortText: // a number of JSON is what it says
	case c.sort == sortInteger:
		out.set("type", "integer")
		most := 0
		for _, v := range c.values {
			n, _ := strconv.Atoi(v)
			most = max(most, n, -n)
		}
		switch {
		case f.Check == "percentage" && most > 1000:
			out.set("decimals", "2")
		case f.Check == "percentage" && most > 100:
			out.set("decimals", "1")
		case f.Check == "percentage":
			out.doubt("whole percents, or tenths of one (decimals: 1)?")
		case f.Name == "quantity" || f.Name == "stock":
			out.doubt("whole units, or thousandths (decimals: 3)?")
		default:
			out.set("decimals", "2")
			if most < 1000 {
				out.doubt("cents?")
			}
		}
	case c.sort == sortDecimal:
		if c.Precision > 0 && c.Scale < f.Scale {
			out.set("scale", strconv.Itoa(c.Scale))
		}
	case c.sort == sortText:
		out.set("type", "text")
		if slices.ContainsFunc(c.values, func(s string) bool { return strings.Contains(s, ",") }) {
			out.set("decimal_comma", "true")
		}
	}
	if f.Check == "percentage" && c.sort != sortInteger && c.isFraction() {
		out.doubt("a fraction, such as 0.15 for 15 percent?")
	}
}

// isFraction tells whether all numbers are below 1, and not all of them 0.
func (c *column) isFraction() bool {
	some := false
	for _, v := range c.values {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || n < 0 || n >= 1 {
			return false
		}
		some = some || n > 0
	}
	return some
}

// format is how dates are written: as sheets name it, as Go does, and no date.
type format struct{ name, layout, zero string }

// dateFormats are those that texts and integers are tried by.
var dateFormats = []format{
	{"yyyyMMdd", "20060102", "00000000"}, {"yyyy-MM-dd", "2006-01-02", "0000-00-00"}, {"dd-MM-yyyy", "02-01-2006", "00-00-0000"},
	{"dd.MM.yyyy", "02.01.2006", "00.00.0000"}, {"dd/MM/yyyy", "02/01/2006", "00/00/0000"}, {"yyyyMMddHHmmss", "20060102150405", "00000000000000"}, {"yyyy-MM-dd HH:mm:ss", "2006-01-02 15:04:05", "0000-00-00 00:00:00"},
	{"yyyy-MM-dd HH:mm:ss.SSSZ", "2006-01-02 15:04:05.000Z", "0000-00-00 00:00:00.000Z"},
}

// The epochs that moments are counted from, by the least and the most that they are then.
var epochs = []struct {
	name        string
	least, most int64
}{{"epoch_seconds", 100_000_000, 4_000_000_000}, {"epoch_millis", 100_000_000_000, 4_000_000_000_000}}

// epochFormat is the format of a column of moments that are counted, if it is one.
func epochFormat(c *column) (none format) {
	if c.sort != sortInteger || !c.has("date", "timestamp", "created", "changed") {
		return none
	}
	for _, e := range epochs {
		set := 0
		if all(c.values, func(v string) bool {
			n, err := strconv.ParseInt(v, 10, 64)
			if n != 0 {
				set++
			}
			return err == nil && (n == 0 || n >= e.least && n <= e.most)
		}) && set > 0 {
			return format{name: e.name, zero: "0"}
		}
	}
	return none
}

// dateFormat is the format that most values of a column have, if any.
func dateFormat(c *column) (none format) {
	if c.sort != sortText && c.sort != sortInteger {
		return none
	}
	for _, f := range dateFormats {
		if c.sort == sortText && c.Length > 0 && c.Length < len(f.name) {
			continue
		}
		fit, set := 0, 0
		for _, v := range c.values {
			if v == "" || strings.Trim(v, "0-.: ") == "" {
				continue
			}
			set++
			if t, err := time.Parse(f.layout, v); err == nil && t.Year() > 1850 && t.Year() < 2200 {
				fit++
			}
		}
		blank := slices.Contains(c.values, f.zero) || literalIs(c.Default, f.zero)
		if set == 0 && c.Length == len(f.name) && c.has("date") {
			return f
		}
		if set > 0 && fit*10 >= set*9 || set == 0 && blank && c.has("date", "timestamp", "from", "until") {
			return f
		}
	}
	return epochFormat(c)
}

// convertTime handles dates and times, of one column or two.
func (d *drafter) convertTime(m *match, x *found, out *mapped) {
	f, c := x.Field, x.column
	zeros := []string{}
	switch {
	case c.dates() && d.http != nil:
		if c.sort != sortTimestamp {
			out.set("type", string(c.sort))
		}
		if slices.Contains(c.values, "") {
			zeros = append(zeros, "")
		}
	case c.dates():
		if d.source.Engine == "sqlite" {
			zeros = sqliteTime(c, out)
			break
		}
		out.set("type", string(c.sort))
		for _, zero := range []string{"0000-00-00", "0001-01-01", "1899-12-30", "1900-01-01"} {
			if slices.ContainsFunc(c.values, func(v string) bool { return strings.HasPrefix(v, zero) }) || strings.Contains(c.Default, zero) {
				zeros = append(zeros, zero)
			}
		}
	default:
		format := dateFormat(c)
		if c.sort == sortInteger {
			out.set("type", "integer")
		}
		out.set("format", scalar(format.name, false))
		if format.layout != "" {
			zeros = d.zeros(c, format.layout, format.zero)
		} else if slices.Contains(c.values, format.zero) {
			zeros = []string{format.zero}
		}
		if d.http != nil && (c.empties > 0 || m.endpoint.style != nil && m.endpoint.style.noNull && !f.Required && !f.Readonly) {
			zeros = append(zeros, "")
		}
	}
	if clock := d.clockOf(m.table, c); clock != nil {
		out.set("time_from", clock.Name)
	}
	if len(zeros) > 0 {
		out.set("zero", list(zeros))
	}
	if len(zeros) > 1 && c.sort != sortDatetime {
		out.doubt("no calendar has " + strings.Join(zeros[1:], ", "))
	}
	d.stampOf(f, c, out)
}

// stampOf says who writes when a record was made and changed.
func (d *drafter) stampOf(f *mapping.Field, c *column, out *mapped) {
	switch {
	case f.Name != "created_at" && f.Name != "modified_at":
	case c.kept, d.http != nil:
		out.set("readonly", "true")
	case f.Name == "created_at":
		out.set("stamp", "create")
	default:
		out.set("stamp", "change")
	}
}

// sqliteTime says how SQLite, which has no dates, is written to as others do it.
func sqliteTime(c *column, out *mapped) (zeros []string) {
	format := "yyyy-MM-dd"
	if c.sort != sortDate {
		format = quoted("yyyy-MM-dd HH:mm:ss")
	}
	out.set("type", "text")
	out.set("format", format)
	for _, zero := range []string{"0000-00-00", "0001-01-01"} {
		if slices.ContainsFunc(c.values, func(v string) bool { return strings.HasPrefix(v, zero) }) || strings.Contains(c.Default, zero) {
			if c.sort != sortDate {
				zeros = append(zeros, zero+" 00:00:00")
			}
			zeros = append(zeros, zero)
		}
	}
	return zeros
}

// zeros are the values that are no date: that which stands for none, and those
// that no calendar has.
func (d *drafter) zeros(c *column, layout, zero string) []string {
	var found []string
	if slices.Contains(c.values, zero) || literalIs(c.Default, zero) || !c.Nullable && d.isCustom(zero) {
		found = append(found, zero)
	}
	if slices.Contains(c.values, "0") {
		found = append(found, "0")
	}
	for _, v := range c.values {
		if _, err := time.Parse(layout, v); err != nil && v != "" && !slices.Contains(found, v) && len(found) < 6 {
			found = append(found, v)
		}
	}
	return found
}

// isCustom tells whether no date is written so in other columns.
func (d *drafter) isCustom(zero string) bool {
	return slices.ContainsFunc(d.tables, func(t *table) bool {
		return slices.ContainsFunc(t.columns, func(c *column) bool { return literalIs(c.Default, zero) })
	})
}

// clockOf finds the column with the time of day beside a date: that whose name
// says the same but for date and time, or that which stands next to it.
func (d *drafter) clockOf(t *table, date *column) *column {
	if date.sort == sortDatetime || date.sort == sortTimestamp || !date.has("date") {
		return nil
	}
	rest := func(c *column, but string) []string {
		var texts []string
		for _, p := range c.parts {
			if !slices.Contains(p.ideas, but) {
				texts = append(texts, p.text)
			}
		}
		return texts
	}
	for _, c := range t.columns {
		if c.has("time") && !c.has("date") && c.sort == sortText && c.Length >= 4 && c.Length <= 8 && slices.Equal(rest(c, "time"), rest(date, "date")) {
			return c
		}
	}
	return nil
}
