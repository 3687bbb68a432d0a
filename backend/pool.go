package backend

// Pool tells how many connections to an administration are at work.
type Pool struct{ InUse, Most int }

// Pooler is a Driver that has a bounded number of connections.
type Pooler interface{ Pool() Pool }
