package strictyaml

import "github.com/goccy/go-yaml/token"

// maxDepth bounds how deep values may be nested; people write far less. The parser's memory grows
// with the square of the depth: 20 KB of brackets would cost a gigabyte.
const maxDepth = 100

// tooDeep finds where values are nested too deep; nil if they are not. It looks at
// brackets and columns only, and may count one level too many.
func tooDeep(tokens token.Tokens) *token.Token {
	brackets := 0
	var columns []int // columns where the open block values begin
	line, opened := 0, false
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(brackets-1, 0)
		}
		if brackets == 0 && (opened || t.Position.Line != line) {
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, t.Position.Column)
		}
		line = t.Position.Line
		opened = t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType // - and ?
		if brackets+len(columns) > maxDepth {
			return t
		}
	}
	return nil
}
