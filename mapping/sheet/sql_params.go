package sheet

import (
	"regexp"
	"strings"
)

// ClientParameter stands for the client's number in SQL of a sheet.
const ClientParameter = ":client"

// Param is a parameter in SQL of a sheet: the text from From to To is its name with a colon
// before it. A name may have a part: key.COLUMN.
type Param struct {
	From, To int
	Name     string
}

// Params returns the parameters in SQL, in their order. It skips quoted text, comments, and casts
// (::name). It knows the quotes and comments of every engine; a # before > or - is an operator of
// PostgreSQL and no comment. A backslash does not escape a quote.
func Params(sql string) []Param {
	params, _ := scanParams(sql)
	return params
}

// of returns the name without its part.
func (p Param) of() string {
	name, _, _ := strings.Cut(p.Name, ".")
	return name
}

// FindParameter returns the position of the first parameter that is called name, with its
// colon; -1 if there is none.
func FindParameter(sql, name string) int {
	for _, p := range Params(sql) {
		if sql[p.From:p.To] == name {
			return p.From
		}
	}
	return -1
}

// scanParams returns Params, and what looks like a parameter but is within quotes.
func scanParams(sql string) (params, quoted []Param) {
	for i := 0; i < len(sql); {
		end, isText := opaque(sql, i)
		for k := i; isText && k < end; k++ {
			if to := paramEnd(sql, k); to > 0 {
				quoted = append(quoted, Param{k, to, sql[k+1 : to]})
			}
		}
		to := paramEnd(sql, i)
		switch {
		case end > i:
			i = end
		case to > 0:
			params = append(params, Param{i, to, sql[i+1 : to]})
			i = to
		default:
			i++
		}
	}
	return params, quoted
}

// dollarQuote matches the delimiter of a dollar-quoted text of PostgreSQL.
var dollarQuote = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z0-9_]*)?\$`)

// opaque returns the end of what begins at i if it is quoted or a comment, else i.
func opaque(sql string, i int) (end int, isText bool) {
	rest := sql[i:]
	until := func(from int, mark string) int {
		if at := strings.Index(rest[from:], mark); at >= 0 {
			return i + from + at + len(mark)
		}
		return len(sql)
	}
	afterWord := i > 0 && isWord(sql[i-1])
	switch c := rest[0]; {
	case c == '\'' || c == '"' || c == '`':
		return until(1, rest[:1]), true
	case c == '[' && !afterWord: // after a word it belongs to an array: ARRAY[:client]
		return until(1, "]"), true
	case c == '$' && !afterWord:
		if mark := dollarQuote.FindString(rest); mark != "" {
			return until(len(mark), mark), true
		}
	case strings.HasPrefix(rest, "--"), c == '#' && !strings.HasPrefix(rest, "#>") && !strings.HasPrefix(rest, "#-"):
		return until(1, "\n"), false
	case strings.HasPrefix(rest, "/*"):
		return until(2, "*/"), false
	}
	return i, false
}

// paramEnd returns the end of the parameter that begins at i; 0 if none does.
func paramEnd(sql string, i int) int {
	word := func(from int) int {
		to := from
		for to < len(sql) && isWord(sql[to]) {
			to++
		}
		if to == from || '0' <= sql[from] && sql[from] <= '9' {
			return 0
		}
		return to
	}
	if sql[i] != ':' || i > 0 && sql[i-1] == ':' {
		return 0
	}
	to := word(i + 1)
	if to > 0 && to < len(sql) && sql[to] == '.' {
		to = max(to, word(to+1))
	}
	return to
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
