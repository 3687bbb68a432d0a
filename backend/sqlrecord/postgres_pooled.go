package sqlrecord

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

var errPooled = errors.New("a pooler must not come between, and default_query_exec_mode says that there is one: " +
	"run frontdesk migrate with a DSN that leads to PostgreSQL itself, without that parameter")

// migrated checks without a lock, so that programs with nothing to migrate start behind a
// pooler as well.
func (d *postgresDB) migrated(ctx context.Context, m Migrations) (done bool, err error) {
	db := stdlib.OpenDBFromPool(d.pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := m.provider(db, goose.DialectPostgres)
	if err != nil {
		return false, err
	}
	pending, err := p.HasPending(ctx)
	if err == nil && !pending {
		return true, nil
	}
	if d.pool.Config().ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		return false, errors.Join(fmt.Errorf("migrate %s: %w", m.Table, errPooled), err)
	}
	return false, nil // if the check fails, migrating reports the error better
}
