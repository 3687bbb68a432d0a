package legacy

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// sqlToken is a part of a statement or an expression: a text, a name with or without quotes, a
// comment, a parenthesis, or any other single character.
var sqlToken = regexp.MustCompile("(?s)" + strings.Join([]string{
	`'(?:[^']|'')*'`, `"(?:[^"]|"")*"`, "`(?:[^`]|``)*`", `\[[^\]]*\]`, `--[^\n]*`, `/\*.*?\*/`, `[\pL_][\pL\pN_$#]*`, `\S`,
}, "|"))

// nameOf is the name that a token holds; "" for any other token.
func nameOf(token string) string {
	if len(token) == 1 {
		return token
	}
	switch quote := token[:1]; quote {
	case `"`, "`":
		return strings.ReplaceAll(token[1:len(token)-1], quote+quote, quote)
	case "[":
		return token[1 : len(token)-1]
	case "'", "-", "/":
		return ""
	default:
		return token
	}
}

// columnsIn are the columns of the table that an expression names, each once.
func columnsIn(t *Table, expression string) (columns []string) {
	for _, token := range sqlToken.FindAllString(expression, -1) {
		name := nameOf(token)
		isIt := func(c Column) bool { return strings.EqualFold(c.Name, name) }
		if i := slices.IndexFunc(t.Columns, isIt); i >= 0 && !slices.Contains(columns, t.Columns[i].Name) {
			columns = append(columns, t.Columns[i].Name)
		}
	}
	return columns
}

// checksIn are the names and texts of the conditions in a CREATE TABLE. An unnamed condition
// has its text as its name, as in SQLite's errors.
func checksIn(statement string) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		at := sqlToken.FindAllStringIndex(statement, -1)
		token := func(i int) string {
			if i < 0 || i >= len(at) {
				return " "
			}
			return statement[at[i][0]:at[i][1]]
		}
		for i := range at {
			if !strings.EqualFold(token(i), "CHECK") || token(i+1) != "(" {
				continue
			}
			end, open := i+2, 1
			for ; end < len(at) && open > 0; end++ {
				open += strings.Count(token(end)[:1], "(") - strings.Count(token(end)[:1], ")")
			}
			text := strings.TrimSpace(statement[at[i+1][1]:at[end-1][0]])
			name := text
			if strings.EqualFold(token(i-2), "CONSTRAINT") {
				name = nameOf(token(i - 1))
			}
			if !yield(name, text) {
				return
			}
		}
	}
}
