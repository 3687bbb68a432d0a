package sqlrecord

import (
	"container/list"

	"zombiezen.com/go/sqlite"
)

// maxStatements bounds the prepared statements of one connection. Those of
// single records are far fewer; the rest is left to lists, whose texts vary.
const maxStatements = 200

// statements keeps the prepared statements of a connection by their text, and
// drops the one that was used longest ago when there are too many.
type statements struct {
	byText map[string]*list.Element
	recent *list.List // of *statement, latest first
}

type statement struct {
	text string
	stmt *sqlite.Stmt
}

func newStatements() *statements {
	return &statements{byText: map[string]*list.Element{}, recent: list.New()}
}

func (s *statements) get(conn *sqlite.Conn, text string) (*sqlite.Stmt, error) {
	if e := s.byText[text]; e != nil {
		s.recent.MoveToFront(e)
		return e.Value.(*statement).stmt, nil
	}
	stmt, err := conn.Prepare(text)
	if err != nil {
		return nil, err
	}
	s.byText[text] = s.recent.PushFront(&statement{text, stmt})
	if s.recent.Len() > maxStatements {
		oldest := s.recent.Remove(s.recent.Back()).(*statement)
		delete(s.byText, oldest.text)
		return stmt, oldest.stmt.Finalize()
	}
	return stmt, nil
}
