package legacy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// judgeClients refuses a sheet by which the owner of a row cannot be known: the written table lacks the
// client column, or rows belong to a client through references by numbers that each client counts
// separately, so that one number stands for several records.
func (s *Store) judgeClients() error {
	for _, r := range s.sheet.Model.Resources {
		t := s.view.Load().tables[r]
		column := t.SQL.Client.Column
		if column != "" && t.Target != nil && t.Target.Column(column) == nil && t.writes() {
			return fmt.Errorf("%w: resource %s: client: every write names %s, and %s has no such column: tell whose its rows are by client: {through: FIELD}",
				backend.ErrUnexpected, t.Name, column, t.Table)
		}
		if t.parent == nil {
			continue
		}
		p := t.parent
		if of := p.Target; of != nil && p.SQL.Client.Column != "" && slices.Contains(of.Primary, p.SQL.Client.Column) && !of.Identifies(p.Key.Places) {
			return fmt.Errorf("%w: resource %s: client through %s: the key of %s, %v, is unique for each client only and does not tell whose a record is: name the client's column",
				backend.ErrUnexpected, t.Name, t.Through.Name, p.Name, p.Key.Places)
		}
	}
	return nil
}

// If the identity of a client is a text in the database (accounts.clients: kept), the id store
// numbers it, and everything else in frontdesk uses the number.

// clientResource is the resource under which the id store keeps clients.
const clientResource = "client"

// ClientNumber is the number of a client that the database knows by a text. A new client gets the
// next number.
func (s *Store) ClientNumber(ctx context.Context, key string) (int64, error) {
	ref := sheet.KeyRef{Resource: clientResource, Key: key}
	ids, err := s.idStore.IDs(ctx, []sheet.KeyRef{ref})
	if err != nil {
		return 0, fmt.Errorf("number of a client: %w", err)
	}
	return int64(ids[ref]), nil
}

// TableFor is the table of a resource. After it, identity knows the client.
func (s *Store) TableFor(ctx context.Context, r *mapping.Resource, client auth.Client) (*Mapped, error) {
	t, err := s.table(r)
	if err != nil || !s.sheet.ClientsKept {
		return t, err
	}
	if _, known := s.clients.Load(client.ID); known {
		return t, nil
	}
	ref := sheet.IDRef{Resource: clientResource, ID: int32(min(client.ID, math.MaxInt32))}
	keys, err := s.idStore.Keys(ctx, client, []sheet.IDRef{ref})
	if err == nil && keys[ref] == "" {
		err = fmt.Errorf("%w: the id store knows no client of number %d", backend.ErrUnexpected, client.ID)
	}
	if err != nil {
		return nil, err
	}
	s.clients.Store(client.ID, keys[ref])
	return t, nil
}

// identity is what identifies a client in the database.
func (s *Store) identity(client auth.Client) string {
	if text, kept := s.clients.Load(client.ID); kept {
		return text.(string)
	}
	return strconv.FormatInt(client.ID, 10)
}

// Params are the parameters of the expressions in reads and filters of a table.
func (s *Store) Params(t *Mapped, client auth.Client) sqlrecord.Params {
	if s.sheet.ClientsKept {
		return t.params(client, s.identity(client))
	}
	return t.params(client, "")
}
