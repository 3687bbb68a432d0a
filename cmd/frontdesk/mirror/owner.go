package mirror

import (
	"cmp"
	"fmt"
)

// nameless is what stands for a client without a name, before that of its user. Another user may
// be of the same client: a cursor is good for that one alone.
const nameless = "the client of "

// isOf fails unless the copy's client is this one, although it is called otherwise: the cursor
// is good for it.
func (s *store) isOf(client, of string, owns func(cursor string) (bool, error)) error {
	if s.cursor != "" {
		if same, err := owns(s.cursor); same || err != nil {
			return err
		}
	}
	return Wrong{fmt.Errorf("the copy has the records of %s, and this user belongs to %s: name another file", cmp.Or(of, "another client"), client)}
}
