package draft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// member is a member of a JSON object; objects keep their order.
type member struct {
	name  string
	value any
}

// decodeJSON reads a JSON text: objects as []member, lists as []any, numbers as json.Number.
func decodeJSON(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := decodeValue(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("expected JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("expected one JSON value, found more behind it")
	}
	return v, nil
}

const deepest = 100

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil || depth > deepest {
		return nil, errors.Join(err, map[bool]error{true: errors.New("nested too deeply")}[depth > deepest])
	}
	switch token {
	case json.Delim('{'):
		all := []member{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, member{name.(string), v})
		}
		_, err = dec.Token()
		return all, err
	case json.Delim('['):
		all := []any{}
		for dec.More() {
			v, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		_, err = dec.Token()
		return all, err
	}
	return token, nil
}

// sampleOf takes an answer for what there is at its path.
func (d *drafter) sampleOf(s Sample) error {
	whole, err := decodeJSON(s.Body)
	if err != nil {
		return err
	}
	records, at := longest(whole, "", 0)
	if of := jsonAPIRecords(whole); of != nil {
		records, at = of, "data" // and not what is included
	}
	t, e := d.addEndpoint(s.Path)
	if records == nil {
		if one, ok := whole.([]member); ok {
			records = []any{one}
			e.todo = append(e.todo, "one record was seen, and no list: where is it?")
		}
	}
	if len(records) == 0 {
		return errors.New("expected a list of records, or one")
	}
	if e.get == "" {
		e.get = strings.TrimSuffix(s.Path, "/") + "/{key}"
	}
	e.result = at
	rest, _ := whole.([]member)
	e.around(rest, "", len(records), s)
	e.adopt(styleOf(whole, records, s))
	for _, r := range records {
		if of, ok := r.([]member); ok {
			t.sampled++
			d.places(t, "", of, 0)
		}
	}
	if e.style != nil && e.style.name == "JSON:API" {
		e.sorts = s.Sorts
		e.adoptJSONAPI(t, rest)
	}
	t.columns = slices.DeleteFunc(t.columns, func(c *column) bool { return e.style != nil && slices.Contains(e.style.own, c.Name) })
	for _, c := range t.columns {
		c.settle(t)
	}
	t.Primary = t.guessKey()
	if e.style != nil && e.style.name == "OData" && len(t.Primary) == 1 {
		if e.get = s.Path + "({key})"; t.column(t.Primary[0]).sort == sortText {
			e.get = s.Path + "('{key}')"
		}
	}
	return nil
}

// longest is the longest list of objects in an answer, and its path.
func longest(v any, at string, depth int) (found []any, where string) {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			if _, ok := v[0].([]member); ok {
				return v, at
			}
		}
	case []member:
		if depth > 3 {
			return nil, ""
		}
		for _, m := range v {
			if list, path := longest(m.value, joined(at, m.name), depth+1); len(list) > len(found) && !strings.Contains(m.name, ".") {
				found, where = list, path
			}
		}
		if depth == 0 && found != nil && slices.ContainsFunc(v, func(m member) bool { return strings.EqualFold(m.name, "id") }) {
			return nil, "" // one record, which has a list of others
		}
	}
	return found, where
}

func joined(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// around reads what stands beside the list: how it is paged, and how many there are.
func (e *endpoint) around(rest []member, at string, n int, s Sample) {
	size, paged, limit := n, "", ""
	var visit func(of []member, at string)
	visit = func(of []member, at string) {
		for _, m := range of {
			path := joined(at, strings.ReplaceAll(m.name, ".", `\.`))
			switch v := m.value.(type) {
			case []member:
				if !strings.HasPrefix(e.result+".", path+".") || e.result != path {
					visit(v, path)
				}
			case json.Number:
				number, _ := v.Int64()
				switch {
				case is(m.name, totals) && number >= int64(n):
					e.total = "{result: " + scalar(path, false) + "}"
				case is(m.name, limits) && number >= int64(n):
					size, limit = int(number), m.name
				case is(m.name, pages):
					paged = "page"
					e.query = append(e.query, setting{m.name, "{page}"})
				case is(m.name, offsets):
					paged = "offset"
					e.query = append(e.query, setting{m.name, "{offset}"})
				}
			case string:
				e.next(m.name, path, v)
			}
		}
	}
	visit(rest, at)
	if strings.Contains(s.Header.Get("Link"), `rel="next"`) {
		e.paging = "{style: link, next: header}"
	}
	for _, name := range headings {
		if s.Header.Get(name) != "" {
			e.total = "{header: " + name + "}"
		}
	}
	if limit != "" {
		e.query = append(e.query, setting{limit, "{limit}"})
	}
	switch {
	case e.paging != "":
	case paged != "":
		e.paging = fmt.Sprintf("{style: %s, size: %d}", paged, max(1, size))
	case e.total == "" && len(rest) == 0:
		e.todo = append(e.todo, "are these all of them, or a page?")
	}
}

// next reads where the next page is, of a member that tells an address or a cursor.
func (e *endpoint) next(name, path, value string) {
	switch {
	case is(name, nexts) && strings.ContainsAny(value, "/?"):
		e.paging = "{style: link, next: " + scalar(path, false) + "}"
	case is(name, cursors) || is(name, nexts):
		e.paging = "{style: cursor, next: " + scalar(path, false) + "}"
		e.query = append(e.query, setting{"cursor", "{cursor}"})
		e.todo = append(e.todo, "by what is it asked for the next page? cursor?")
	}
}

// places reads the values of a record, by their paths.
func (d *drafter) places(t *table, at string, record []member, depth int) {
	for _, m := range record {
		path := joined(at, m.name)
		if m.name == "" || strings.Contains(m.name, ".") || len(t.columns) > 500 {
			continue // what no path can name
		}
		switch v := m.value.(type) {
		case []member:
			if depth < 4 {
				d.places(t, path, v, depth+1)
			}
		case []any:
			if len(v) > 0 {
				if _, ok := v[0].([]member); ok {
					t.within(path)
				}
			}
		default:
			d.setColumn(t, path).hear(v)
		}
	}
}

// within notes a list of records within those of a table.
func (t *table) within(path string) {
	if !slices.Contains(t.lists, path) {
		t.lists = append(t.lists, path)
	}
}

// hear notes a value of a column. What its values can be is the widest of their sorts.
func (c *column) hear(v any) {
	text, of := "", sortOther
	switch v := v.(type) {
	case nil:
		c.Nullable = true
		return
	case bool:
		text, of = fmt.Sprint(v), sortBoolean
	case json.Number:
		text, of = v.String(), sortInteger
		if strings.ContainsAny(text, ".eE") {
			of = sortDecimal
		}
	case string:
		text, of = v, sortText
		if strings.TrimSpace(v) == "" {
			c.empties++
		}
	}
	c.values = append(c.values, text)
	switch {
	case c.sort == sortOther:
		c.sort = of
	case c.sort != of && (c.sort == sortInteger || c.sort == sortDecimal) && (of == sortInteger || of == sortDecimal):
		c.sort = sortDecimal
	case c.sort != of:
		c.sort = sortText
	}
}

// The forms of dates and times that need no format.
var isoForms = []struct {
	sort   sort
	layout string
}{{sortDate, "2006-01-02"}, {sortTimestamp, time.RFC3339Nano}, {sortDatetime, "2006-01-02T15:04:05"}, {sortDatetime, "2006-01-02T15:04:05.999999999"}}

// settle says what a column is, once all of its values were seen.
func (c *column) settle(t *table) {
	c.Nullable = c.Nullable || len(c.values) < t.sampled
	if c.sort == sortText {
		for _, form := range isoForms {
			set := 0
			if all(c.values, func(v string) bool {
				_, err := time.Parse(form.layout, v)
				if v != "" {
					set++
				}
				return v == "" || err == nil
			}) && set > 0 {
				c.sort = form.sort
				return
			}
		}
	}
	if c.few != nil || c.sort != sortText && c.sort != sortInteger && c.sort != sortBoolean {
		return
	}
	var few []string
	for _, v := range c.values {
		if len(v) > 20 {
			return
		}
		if !slices.Contains(few, v) {
			few = append(few, v)
		}
	}
	if len(few) > 0 && len(few) <= fewest {
		slices.Sort(few)
		c.few = few
	}
}
