package sqlrecord

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"zombiezen.com/go/sqlite"
)

// maxStatements bounds the prepared statements of one connection. Those of
// single records are far fewer; the rest is left to lists, whose texts vary.
const maxStatements = 200

// statements keeps the prepared statements of a connection by their text, and
// drops the one that was used longest ago when there are too many.
type statements struct {
	byText *simplelru.LRU[string, *sqlite.Stmt]
}

func newStatements() statements {
	kept, _ := simplelru.NewLRU(maxStatements, func(_ string, stmt *sqlite.Stmt) { _ = stmt.Finalize() }) // Finalize repeats the error of Step
	return statements{kept}
}

func (s statements) get(conn *sqlite.Conn, text string) (*sqlite.Stmt, error) {
	if stmt, ok := s.byText.Get(text); ok {
		return stmt, nil
	}
	stmt, err := conn.Prepare(text)
	if err == nil {
		s.byText.Add(text, stmt)
	}
	return stmt, err
}
