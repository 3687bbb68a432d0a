package sqlrecord

import "frontdesk/backend"

// Pool implements backend.Pooler. It includes the connections of Reserved and Jobs.
func (d *postgresDB) Pool() (all backend.Pool) {
	all.Calls = int(d.pool.Stat().MaxConns())
	for _, p := range d.parts() {
		stat := p.pool.Stat()
		all.InUse, all.Most = all.InUse+int(stat.AcquiredConns()), all.Most+int(stat.MaxConns())
	}
	return all
}

// Pool implements backend.Pooler for the reading connections; one of them is reserved for
// work other than calls. A single connection does all writes: up to maxBatch share a
// commit, and those that arrive meanwhile share the next one.
func (d *sqliteDB) Pool() backend.Pool {
	most := cap(d.readers.free)
	return backend.Pool{InUse: most - len(d.readers.free), Most: most, Calls: most - 1, Writes: 2 * maxBatch}
}

// PoolOf returns how many connections to a database are in use.
func PoolOf(db DB) backend.Pool { return db.(shared).Pool() }
