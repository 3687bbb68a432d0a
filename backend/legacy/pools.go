package legacy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"frontdesk/backend"
)

// pools are the connections to a database. Calls may use up all of theirs, and hang with them,
// so logins and health checks have others.
type pools struct {
	connector driver.Connector
	db        *sql.DB // of calls
	reserved  *sql.DB // of logins, and whether the database answers
}

// mostReserved is how many connections are reserved for logins at most, one in four.
const mostReserved = 4

func openPools(c driver.Connector, connections int) pools {
	reserved := min(max(1, connections/4), mostReserved)
	return pools{connector: c, db: openPool(c, max(1, connections-reserved)), reserved: openPool(c, reserved)}
}

func openPool(c driver.Connector, connections int) *sql.DB {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

// beside opens a connection outside the pools, for long work. It is closed with the database
// that is returned.
func (p pools) beside() *sql.DB { return openPool(p.connector, 1) }

// Pool implements backend.Pooler.
func (p pools) Pool() backend.Pool {
	calls, reserved := p.db.Stats(), p.reserved.Stats()
	return backend.Pool{InUse: calls.InUse + reserved.InUse, Most: calls.MaxOpenConnections + reserved.MaxOpenConnections, Calls: calls.MaxOpenConnections}
}

// Ping implements backend.Pinger.
func (p pools) Ping(ctx context.Context) error { return p.reserved.PingContext(ctx) }

func (p pools) close() error { return errors.Join(p.db.Close(), p.reserved.Close()) }
