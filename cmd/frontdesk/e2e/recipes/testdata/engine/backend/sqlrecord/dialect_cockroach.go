package sqlrecord

// Cockroach returns the dialect of CockroachDB, which speaks PostgreSQL's.
func Cockroach() *Dialect {
	d := Postgres()
	d.Name = "cockroach"
	d.Try = nil
	return d
}
