package sqlrecord

import "frontdesk/backend"

var (
	_ backend.Pooler = (*postgresDB)(nil)
	_ backend.Pooler = (*sqliteDB)(nil)
)

// Pool implements backend.Pooler. The connections of Own count among those there are.
func (d *postgresDB) Pool() backend.Pool {
	stat := d.pool.Stat()
	p := backend.Pool{InUse: int(stat.AcquiredConns()), Most: int(stat.MaxConns()), Calls: int(stat.MaxConns())}
	if d.own != nil {
		own := d.own.Pool()
		p.InUse, p.Most = p.InUse+own.InUse, p.Most+own.Most
	}
	return p
}

// Pool implements backend.Pooler for the connections that read, one of which is left to
// what is no call. All writes are done on one other, as many together as share a commit;
// those that come meanwhile share the next one.
func (d *sqliteDB) Pool() backend.Pool {
	most := cap(d.readers.free)
	return backend.Pool{InUse: most - len(d.readers.free), Most: most, Calls: most - 1, Writes: 2 * maxBatch}
}

// PoolOf tells how many connections to a database are at work.
func PoolOf(db DB) backend.Pool {
	if p, ok := db.(backend.Pooler); ok {
		return p.Pool()
	}
	return backend.Pool{}
}
