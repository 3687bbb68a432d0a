package mapping_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// valueRow is a line of testdata/values.txt.
type valueRow struct {
	of           []string // the fields, or the function
	refused      mapping.Reason
	sent, answer string // answer "" where it is refused
	query        bool
}

func valueRows(t *testing.T) (rows []valueRow) {
	t.Helper()
	src, err := os.ReadFile("testdata/values.txt")
	require.NoError(t, err)
	var section []string
	for line := range strings.Lines(string(src)) {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "  # ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if head, ok := strings.CutPrefix(line, "== "); ok {
			section = strings.Fields(head)
			continue
		}
		row := valueRow{of: section}
		if strings.Contains(section[0], ".") {
			row.of, row.refused = section[:len(section)-1], mapping.Reason(section[len(section)-1])
		}
		line, row.query = strings.CutPrefix(line, "text ")
		row.sent, row.answer, _ = strings.Cut(line, " -> ")
		if row.answer == "=" {
			row.answer = row.sent
		}
		rows = append(rows, row)
	}
	require.Greater(t, len(rows), 360)
	return rows
}

func TestValues(t *testing.T) {
	m, err := mapping.LoadModel("testdata/vendor")
	require.NoError(t, err)
	for _, row := range valueRows(t) {
		if row.refused == "" {
			continue
		}
		for _, name := range row.of {
			t.Run(name+" "+row.sent, func(t *testing.T) {
				resourceName, fieldName, _ := strings.Cut(name, ".")
				r := m.Resource(resourceName)
				f := r.Field(fieldName)
				if row.query {
					text, err := strconv.Unquote(row.sent)
					require.NoError(t, err)
					parses(t, f, text, row)
					return
				}
				inBody(t, r, f, row)
				text, err := strconv.Unquote(row.sent)
				number := f.Type == mapping.Int4 || f.Type == mapping.Float8
				if number != (err != nil) || !f.Filterable() || row.answer == "null" || row.refused == mapping.ValidationFailed || row.sent[0] == '{' {
					return
				}
				if number {
					text = row.sent
				}
				parses(t, f, text, row)
			})
		}
	}
}

// inBody reads the value of a row as the only field of a body.
func inBody(t *testing.T, r *mapping.Resource, f *mapping.Field, row valueRow) {
	t.Helper()
	b, err := mapping.DecodeBody(r, []byte(`{"`+f.Name+`":`+row.sent+`}`), amsterdam(t))
	require.NoError(t, err)
	if row.refused == mapping.ValidationFailed {
		v := append(b.CheckCreate(), b.CheckUpdate()...)
		refused := mapping.Is(v.Err(), mapping.ValidationFailed) || mapping.Is(v.Err(), mapping.FieldEmpty)
		require.Equal(t, row.answer == "", refused, "%v", v)
		return
	}
	if row.answer == "" {
		require.Len(t, b.Violations, 1)
		require.Equal(t, row.refused, b.Violations[0].Reason)
		return
	}
	require.Empty(t, b.Violations)
	require.Equal(t, row.answer, string(b.Record.Get(f.Name).AppendJSON(nil)))
}

// parses reads the value of a row in a query.
func parses(t *testing.T, f *mapping.Field, text string, row valueRow) {
	t.Helper()
	v, e := f.Parse(text, amsterdam(t))
	if row.answer == "" {
		require.NotNil(t, e, "read as %s", v)
		require.Equal(t, row.refused, e.Reason)
		require.Equal(t, []string{f.Name, text}, e.Args)
		return
	}
	require.Nil(t, e)
	require.Equal(t, row.answer, string(v.AppendJSON(nil)))
	again, e := f.Parse(v.String(), time.UTC)
	require.Nil(t, e)
	require.Equal(t, v, again, "the answered form is the same value")
}

func TestTexts(t *testing.T) {
	same := func(ok bool, s string) (string, bool) {
		if !ok {
			return "", false
		}
		return strconv.Quote(s), true
	}
	judges := map[string]func(string) (string, bool){
		"DutchPlate":    mapping.DutchPlate,
		"IsEmail":       func(s string) (string, bool) { return same(mapping.IsEmail(s), s) },
		"DutchPostcode": func(s string) (string, bool) { return same(mapping.DutchPostcode(s), s) },
	}
	for _, row := range valueRows(t) {
		if row.refused != "" {
			continue
		}
		text, err := strconv.Unquote(row.sent)
		require.NoError(t, err)
		got, ok := judges[row.of[0]](text)
		assert.Equal(t, row.answer != "", ok, row.sent)
		assert.Equal(t, row.answer, got, row.sent)
		if ok && row.of[0] == "DutchPlate" {
			bare := strings.ReplaceAll(text, " ", "")
			assert.Equal(t, mapping.BarePlate(bare), mapping.BarePlate(got), "only dashes and case change")
		}
	}
	assert.Equal(t, "GT123B", mapping.BarePlate("gt-123-b"))
}
