package backend

// Pool describes the connections to an administration.
type Pool struct {
	InUse, Most int
	// Calls is how many calls the connections can serve at once. A Client makes no more
	// than that, and lets further calls wait in its own fair order. 0 means no limit.
	Calls int
	// Writes is the same for writes, if these use connections of their own.
	Writes int
}

// Pooler is a Driver that has a bounded number of connections.
type Pooler interface{ Pool() Pool }
