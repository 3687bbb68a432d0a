package adopt

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"

	"frontdesk/backend"
	"frontdesk/docs"
	"frontdesk/mapping"
)

// Brief is one Markdown file with all that is needed to finish a draft: the model, the system, the draft
// and its questions, the manual, and how to run map check. It contains no value of a row, and no example
// of a description.
func (d *Draft) Brief() (string, error) {
	var questions []string
	for i, line := range strings.Split(d.Text, "\n") {
		if _, question, is := strings.Cut(line, "# TODO "); is {
			questions = append(questions, fmt.Sprintf("line %d: %s", i+1, question))
		}
	}
	description, err := shortened(d.options.OpenAPI)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = brief.Execute(&b, map[string]any{
		"Draft": d, "Resources": d.options.Model.Resources, "Tables": d.tables, "Engine": d.options.Source.Engine, "Variable": d.options.Variable, "Most": mostRows,
		"Description": description, "Questions": questions, "Manual": docs.Sheet, "Reasons": reasons(),
	})
	return b.String(), err
}

//go:embed brief.md
var briefText string

var brief = template.Must(template.New("brief").Funcs(template.FuncMap{"own": ownFields, "field": fieldInWords, "rule": ruleInWords, "table": tableInWords, "columns": func(t *table) []*column { return t.columns }, "column": columnInWords}).Parse(briefText))

// ownFields are the fields that not every resource has.
func ownFields(r *mapping.Resource) (own []*mapping.Field) {
	of := []int{r.ID, r.IsSystem, r.IsBlocked, r.IsArchived, r.CreatedAt, r.ModifiedAt}
	for i, f := range mapping.Each(r.Fields) {
		if !slices.Contains(of, i) {
			own = append(own, f)
		}
	}
	return own
}

// fieldInWords is a row of a table: a field as the interface describes it.
func fieldInWords(f *mapping.Field) string {
	var all []string
	for word, holds := range map[string]bool{"required": f.Required, "readonly": f.Readonly, "immutable": f.Immutable, "unique": f.Unique} {
		if holds {
			all = append(all, word)
		}
	}
	slices.Sort(all)
	for _, of := range [][2]string{
		{"unique per ", f.UniquePer}, {"unique where it is ", strings.Join(f.UniqueWhen, " or ")}, {"refers to ", f.Reference}, {"refers to the resource in ", f.ReferenceBy}, {"elements are of ", f.ArrayOf},
		{"one of ", strings.Join(f.OneOf, ", ")}, {"is valid by ", f.Check}, {"later than ", f.After}, {"new: ", f.Default},
	} {
		if of[1] != "" {
			all = append(all, of[0]+of[1])
		}
	}
	kind := f.Type.String()
	switch {
	case f.Type == mapping.Varchar:
		kind += fmt.Sprintf("(%d)", f.Length)
	case f.Type == mapping.Float8 && f.Scale >= 0:
		kind += fmt.Sprintf(", %d decimals", f.Scale)
	}
	return cells(f.Name, kind, strings.Join(all, "; "), f.Description)
}

// ruleInWords describes what a rule of a resource needs, and what it refuses.
func ruleInWords(r *mapping.Resource, name string) string {
	needs, _ := backend.RuleFields(name)
	text := fmt.Sprintf("`%s`, by %s:", name, strings.ReplaceAll(strings.Join(needs, ", "), "|", " or "))
	for _, reason := range backend.RuleRaises(name) {
		if e := mapping.NewCatalogue().Lookup(reason, mapping.Scope("/"+r.Name)); e != nil {
			text += " " + cmp.Or(e.Cause, e.Message)
		}
	}
	return text
}

// reasons are what a sheet may translate errors to, each once.
func reasons() (rows []string) {
	seen := map[mapping.Reason]bool{}
	for _, e := range mapping.NewCatalogue().Entries() {
		if !seen[e.Reason] && (e.By == mapping.ByEither || e.By == mapping.ByAdministration) {
			seen[e.Reason] = true
			rows = append(rows, cells(string(e.Reason), e.Message))
		}
	}
	return rows
}

// tableInWords is a table with its keys.
func tableInWords(t *table) string {
	text := fmt.Sprintf("%d rows", t.rows)
	switch {
	case t.view:
		text = "a view"
	case t.unread:
		text = "its rows cannot be read"
	case t.rows >= mostRows:
		text = fmt.Sprintf("%d rows or more", mostRows)
	}
	if t.lasting != "" {
		text += fmt.Sprintf("; **%s, which has no transactions**: only read it, or make it InnoDB", t.lasting)
	}
	if len(t.primary) > 0 {
		text += "; primary key " + strings.Join(t.primary, ", ")
	}
	for _, k := range t.foreign {
		text += fmt.Sprintf("; %s refers to %s (%s)", strings.Join(k.Columns, ", "), k.Table, strings.Join(k.References, ", "))
	}
	return fmt.Sprintf("### %s\n\n%s", comment(t.name), comment(text))
}

// columnInWords is a row of a table: a column, how many rows have a value, and what the values look
// like.
func columnInWords(c *column) string {
	kind := c.kind
	if c.length > 0 {
		kind += fmt.Sprintf("(%d)", c.length)
	}
	if !c.nullable {
		kind += " not null"
	}
	if c.generated {
		kind += " generated"
	}
	shapes := map[string]int{}
	for v, rows := range c.values {
		shapes["'"+Shape(v)+"'"] += rows
	}
	most := slices.SortedFunc(maps.Keys(shapes), func(a, b string) int { return cmp.Or(shapes[b]-shapes[a], cmp.Compare(a, b)) })
	if len(most) > mostShapes {
		most = append(most[:mostShapes], "…")
	}
	return cells(c.name, kind, fmt.Sprint(c.filled), c.distinct(), strings.Join(most, " "))
}

// mostShapes is how many shapes of a column's values are shown.
const mostShapes = 3

// distinct is how many values a column has, in words.
func (c *column) distinct() string {
	switch n := len(c.values); {
	case n == 1:
		return "1 value"
	case n >= mostValues:
		return fmt.Sprintf("%d values or more", mostValues)
	default:
		return fmt.Sprintf("%d values", n)
	}
}

// cells writes a row of a table in Markdown.
func cells(all ...string) string {
	for i := range all {
		all[i] = strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(comment(all[i]))
	}
	return "| " + strings.Join(all, " | ") + " |"
}

// Shape shows what a value looks like without showing it: letters as x and X, digits as 9,
// but for 0, and no more than 20 of them.
func Shape(value string) string {
	text := []rune(value)
	end := ""
	if len(text) > 20 {
		text, end = text[:20], "…"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '1' && r <= '9':
			return '9'
		case r >= 'A' && r <= 'Z':
			return 'X'
		case r >= 'a' && r <= 'z', r > 127:
			return 'x'
		case r < ' ':
			return ' '
		}
		return r
	}, string(text)) + end
}

// shortened is an OpenAPI description without its examples and extensions.
func shortened(description []byte) (string, error) {
	if description == nil {
		return "", nil
	}
	var whole any
	if err := yaml.Unmarshal(description, &whole); err != nil {
		return "", err
	}
	bare(whole, false)
	text, err := yaml.Marshal(whole)
	return string(text), err
}

// needless are members of a description that do not say how the service is called.
var needless = []string{"example", "examples", "externalDocs", "operationId", "tags"}

// bare removes what is needless from a description, and shortens its prose. Members whose names the
// author chose stay.
func bare(v any, named bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			bare(one, false)
		}
	case map[string]any:
		for key, one := range v {
			text, isText := one.(string)
			switch {
			case named:
			case slices.Contains(needless, key) || strings.HasPrefix(key, "x-"):
				delete(v, key)
				continue
			case key == "description" && isText && len(text) > mostLetter:
				v[key] = strings.ToValidUTF8(text[:mostLetter], "") + "…"
			}
			bare(one, !named && (key == "properties" || key == "schemas" || key == "definitions"))
		}
	}
}
