// Package neighbours stores what the gateways of a service share with each other and with
// commands, in tables of the gateway's own database: when api_keys were last used, when they
// ended, and how each gateway is set up.
package neighbours

import (
	"context"
	"embed"
	"fmt"

	"frontdesk/backend/sqlrecord"
)

//go:embed migrations
var migrations embed.FS

// Tables is safe for concurrent use, on PostgreSQL also by several processes.
type Tables struct{ db sqlrecord.DB }

// Open makes or migrates the tables in a database. The caller closes the database.
func Open(ctx context.Context, db sqlrecord.DB) (*Tables, error) {
	if err := sqlrecord.MigrateWith(ctx, db, sqlrecord.Migrations{Table: "frontdesk_neighbours_version", Files: migrations}); err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	return &Tables{db: db}, nil
}

// Of returns the tables of a database that already has them.
func Of(db sqlrecord.DB) *Tables { return &Tables{db: db} }

// The types of result columns.
var number, words = sqlrecord.Number, sqlrecord.Words
