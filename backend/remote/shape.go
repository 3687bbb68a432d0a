package remote

import (
	"fmt"
	"strconv"

	"frontdesk/mapping/sheet"
)

// shape says where the places of a record are in its part of an answer: a tree of the members
// that are needed. It is compiled once, immutable, and the same for JSON and XML.
type shape struct {
	top   *node
	width int      // places of a row
	lists []*shape // of what is nested
}

// node is one member, by whatever path it is reached.
type node struct {
	name    string
	place   int // position in the row, -1 for none
	whole   int // position of the object or the list as it is, -1 for none
	list    int // number of the nested list that the member is, -1 for none
	kids    []*node
	byName  map[string]int
	indexed bool // some kid is a position in an array
}

// row is one record of an answer: its places, and the records nested in it.
type row struct {
	values []sheet.Raw
	lists  []nest
}

// nest is a nested list. It is not given if the answer lacks it, or has null.
type nest struct {
	rows  []row
	there bool
}

func newShape(places ...string) *shape {
	s := &shape{top: newNode("")}
	for _, p := range places {
		s.addPlace(p)
	}
	return s
}

func newNode(name string) *node { return &node{name: name, place: -1, whole: -1, list: -1} }

// addPlace gives a path the next position in the row.
func (s *shape) addPlace(path string) int {
	n := s.top.at(path)
	if n.place < 0 {
		n.place = s.width
	}
	s.width++
	return s.width - 1
}

// addWhole gives the whole value at a path the next position in the row.
func (s *shape) addWhole(path string) {
	s.top.at(path).whole = s.width
	s.width++
}

// addList makes a path a nested list.
func (s *shape) addList(path string, inner *shape) error {
	n := s.top.at(path)
	if n.list >= 0 || n.place >= 0 || len(n.kids) > 0 {
		return fmt.Errorf("the list at %q is also read as something else", path)
	}
	n.list = len(s.lists)
	s.lists = append(s.lists, inner)
	return nil
}

// at returns the node of a path, and makes it if it does not exist.
func (n *node) at(path string) *node {
	if path == "" {
		return n
	}
	for _, name := range sheet.Steps(path) {
		i, ok := n.byName[name]
		if !ok {
			i = len(n.kids)
			n.kids = append(n.kids, newNode(name))
			if n.byName == nil {
				n.byName = map[string]int{}
			}
			n.byName[name] = i
			if _, err := strconv.Atoi(name); err == nil {
				n.indexed = true
			}
		}
		n = n.kids[i]
	}
	return n
}

// null sets all places below a node to null, because the object itself is null.
func (n *node) null(to *row) error {
	for _, kid := range n.kids {
		if kid.whole >= 0 {
			to.values[kid.whole] = sheet.Raw{Kind: sheet.RawNull}
		}
		if kid.place >= 0 {
			if err := put(kid, to, sheet.Raw{Kind: sheet.RawNull}); err != nil {
				return err
			}
		}
		if err := kid.null(to); err != nil {
			return err
		}
	}
	return nil
}

// kid returns the position of the kid of that name; -1 for none. next is the position after
// the last kid that was found: members mostly come in the same order.
func (n *node) kid(name string, next int) int {
	if next < len(n.kids) && n.kids[next].name == name {
		return next
	}
	if i, ok := n.byName[name]; ok {
		return i
	}
	return -1
}

// The bounds of an answer, beyond its size.
const (
	maxDepth = 64
	maxRows  = 100_000
)

// rows allocates rows, many at a time.
type rows struct {
	block []sheet.Raw
	count int
}

func (r *rows) next(s *shape) (row, error) {
	if r.count++; r.count > maxRows {
		return row{}, errTooLarge
	}
	if len(r.block)+s.width > cap(r.block) {
		r.block = make([]sheet.Raw, 0, max(s.width, min(2*cap(r.block), 4096)))
	}
	from := len(r.block)
	r.block = r.block[:from+s.width]
	row := row{values: r.block[from : from+s.width : from+s.width]}
	if len(s.lists) > 0 {
		row.lists = make([]nest, len(s.lists))
	}
	return row, nil
}

// reset reuses the memory for the next answer. Rows allocated before must not be used any
// more.
func (r *rows) reset() {
	clear(r.block)
	r.block, r.count = r.block[:0], 0
	if cap(r.block) > 4096 {
		r.block = nil
	}
}
