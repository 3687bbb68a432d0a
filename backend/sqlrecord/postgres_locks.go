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

// The wait for a lock is bounded by a setting that each connection is opened with. A
// pooler may refuse the setting, or forget it, and it gives the connection to another
// client after each transaction: then each transaction has to set it.
const lockTimeout = "lock_timeout"

// takeLockWait decides how connections are opened: those of pools, and alone, which wait
// for locks as the DSN says. wait is what the DSN says, or else the caller; "" for no
// bound.
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

// refusesSettings reports whether a pooler refused a connection because of its settings.
func refusesSettings(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "08P01" // protocol violation
}

// boundLocks makes each transaction bound its wait for locks, if neither the connections
// nor the server do.
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
