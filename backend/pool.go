package backend

// Pool tells how many connections to an administration are at work.
type Pool struct {
	InUse, Most int
	// Calls is how many calls can be at work on them at once: a Client makes no more,
	// and has the next ones wait in an order of its own. 0 where that does not matter.
	Calls int
	// Writes is the same of calls that write, where these take nothing from the others.
	Writes int
}

// Pooler is a Driver that has a bounded number of connections.
type Pooler interface{ Pool() Pool }
