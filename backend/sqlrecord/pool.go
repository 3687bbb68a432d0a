package sqlrecord

import "frontdesk/backend"

var (
	_ backend.Pooler = (*postgresDB)(nil)
	_ backend.Pooler = (*sqliteDB)(nil)
)

// Pool implements backend.Pooler.
func (d *postgresDB) Pool() backend.Pool {
	stat := d.pool.Stat()
	return backend.Pool{InUse: int(stat.AcquiredConns()), Most: int(stat.MaxConns())}
}

// Pool implements backend.Pooler for the connections that read; there is always
// one that writes.
func (d *sqliteDB) Pool() backend.Pool {
	return backend.Pool{InUse: cap(d.readers.free) - len(d.readers.free), Most: cap(d.readers.free)}
}

// PoolOf tells how many connections to a database are at work.
func PoolOf(db DB) backend.Pool {
	if p, ok := db.(backend.Pooler); ok {
		return p.Pool()
	}
	return backend.Pool{}
}
