package legacy

import "strings"

// Sort returns what sheets call the type of a column of an engine; "" if it is not known.
func (c Column) Sort(engine string) string {
	has := func(word string) bool { return strings.Contains(c.Type, word) }
	begins := func(word string) bool { return strings.HasPrefix(c.Type, word) }
	switch t := c.Type; {
	case t == "money" && engine == "postgres": // comes as $1,000.00, or as another country writes it
		return ""
	case has("bool"):
		return "boolean"
	case has("int") && t != "interval" && t != "point", strings.HasSuffix(t, "serial"), t == "year":
		return "integer"
	case begins("dec"), begins("num"), has("money"), begins("float"), begins("double"), t == "real":
		return "decimal"
	case t == "date":
		return "date"
	case t == "timestamp with time zone", t == "timestamptz":
		return "timestamp"
	case begins("timestamp"), has("datetime"):
		return "datetime"
	case has("blob"), has("binary"), t == "bytea", t == "image":
		return "bytes"
	case has("char"), has("text"), has("clob"), t == "uuid", t == "enum", t == "set":
		return "text"
	}
	return ""
}

// learnTypes notes the columns whose values no operator compares as they are shown.
func (t *table) learnTypes(known *Table) {
	t.single, t.days, t.texts = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range known.Columns {
		t.single[c.Name] = c.isSingle(t.d.engine())
		t.texts[c.Name] = c.Sort(t.d.engine()) == "text"
		t.days[c.Name] = c.Type == "date" && t.d.engine() == "postgres"
		if i, ok := t.at[c.Name]; ok && t.d.engine() == "postgres" && (c.Type == "json" || c.Type == "xml") && !t.computed(i) {
			t.exprs[i] = "CAST(" + t.exprs[i] + " AS text)"
		}
	}
}
