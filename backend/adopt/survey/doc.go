// Package survey asks a vendor's database what tools want to know of it: which tables it has
// (Reader), whether all its rows are as a mapping sheet says (Prove), and how it would read a list
// (Ask). It only reads, and is no part of the gateway that serves.
package survey

import (
	"context"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Store is what a database is served by: a *legacy.Store.
type Store interface {
	DB() sqlrecord.DB
	Sheet() *sheet.Sheet
	Mapped(r *mapping.Resource) *legacy.Mapped
	TableFor(ctx context.Context, r *mapping.Resource, client auth.Client) (*legacy.Mapped, error)
	Params(t *legacy.Mapped, client auth.Client) sqlrecord.Params
	Asked(ctx context.Context, t *legacy.Mapped, q backend.Query) (asked backend.Query, after []mapping.Value, err error)
	Accounts() *legacy.Builder
	EachUser(ctx context.Context, each func(legacy.UserSeen)) error
	ClientNumber(ctx context.Context, key string) (int64, error)
}

var _ Store = (*legacy.Store)(nil)

// How what no field has is read.
var (
	oneInt      = []sqlrecord.Column{{Type: mapping.Int4}}
	foreignText = sqlrecord.Column{Type: mapping.Text, Foreign: true}
)
