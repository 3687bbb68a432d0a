// Package ledger keeps what the gateways of a service and their commands tell each
// other, in tables of the gateway's own database: acts of people, when api_keys were
// used last, and how each gateway is set up.
package ledger

import (
	"context"
	"embed"
	"fmt"

	"frontdesk/backend/sqlrecord"
)

//go:embed migrations
var migrations embed.FS

// Ledger is the tables. It is safe for concurrent use, on PostgreSQL also by several
// processes.
type Ledger struct{ db sqlrecord.DB }

// Open makes or migrates the tables in a database, which stays its owner's.
func Open(ctx context.Context, db sqlrecord.DB) (*Ledger, error) {
	if err := sqlrecord.MigrateWith(ctx, db, sqlrecord.Migrations{Table: "frontdesk_ledger_version", Files: migrations}); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return &Ledger{db: db}, nil
}

// Of are the tables of a database that has them: a command that only looks makes none.
func Of(db sqlrecord.DB) *Ledger { return &Ledger{db: db} }

// How result columns are read.
var number, words = sqlrecord.Number, sqlrecord.Words
