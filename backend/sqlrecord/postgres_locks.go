package sqlrecord

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The wait for a lock is bounded by a setting that each connection is opened with. A pooler
// may refuse that, or forget it, and give the connection to somebody else after each
// transaction: then each transaction says it.
const lockTimeout = "lock_timeout"

// takeLockWait settles how connections are opened: those of pools, and those that are alone and
// go by what the DSN says. wait is what the DSN says, or else the caller; "" for nothing.
func takeLockWait(config *pgx.ConnConfig, most time.Duration, pooled bool) (alone *pgx.ConnConfig, wait string) {
	wait = config.RuntimeParams[lockTimeout]
	if wait == "" && most > 0 {
		wait = strconv.FormatInt(most.Milliseconds(), 10)
	}
	if pooled || config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		delete(config.RuntimeParams, lockTimeout)
		return config.Copy(), wait
	}
	alone = config.Copy()
	if wait != "" {
		config.RuntimeParams[lockTimeout] = wait
	}
	return alone, wait
}

// refusesSettings tells whether it is a pooler that refused a connection for what it should
// be opened with.
func refusesSettings(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "08P01" // protocol violation
}

// boundLocks has transactions say what connections do not have, nor the server.
func (d *postgresDB) boundLocks(ctx context.Context, wait string) error {
	var has string
	if err := d.reserved.pool.QueryRow(ctx, "SHOW "+lockTimeout).Scan(&has); err != nil {
		return err
	}
	if has != "0" || wait == "" || wait == "0" {
		return nil
	}
	for _, p := range d.parts() {
		p.bound = "SET LOCAL " + lockTimeout + " = '" + strings.ReplaceAll(wait, "'", "''") + "'"
	}
	return nil
}
