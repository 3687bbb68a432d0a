package legacy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"frontdesk/backend"
)

// pools are the connections to a database. Calls may take all of theirs, and hang with
// them: what is no call has others.
type pools struct {
	connector driver.Connector
	db        *sql.DB // of calls
	own       *sql.DB // of logins, and whether the database answers
}

// mostOwn is how many connections are kept for logins at most, one in four.
const mostOwn = 4

func openPools(c driver.Connector, connections int) pools {
	own := min(max(1, connections/4), mostOwn)
	return pools{connector: c, db: openPool(c, max(1, connections-own)), own: openPool(c, own)}
}

func openPool(c driver.Connector, connections int) *sql.DB {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

// beside opens a connection beside the pools, for what takes as long as it takes; it is
// closed with the database that is returned.
func (p pools) beside() *sql.DB { return openPool(p.connector, 1) }

// Pool implements backend.Pooler.
func (p pools) Pool() backend.Pool {
	calls, own := p.db.Stats(), p.own.Stats()
	return backend.Pool{InUse: calls.InUse + own.InUse, Most: calls.MaxOpenConnections + own.MaxOpenConnections, Calls: calls.MaxOpenConnections}
}

// Ping implements backend.Pinger.
func (p pools) Ping(ctx context.Context) error { return p.own.PingContext(ctx) }

func (p pools) close() error { return errors.Join(p.db.Close(), p.own.Close()) }
