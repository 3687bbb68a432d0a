// Package mirror keeps a copy of what an api_key and a user may read, in an SQLite database:
// it is what frontdesk mirror does. It is a client like any other: all that it knows comes
// over the interface, by the recipe of docs/integrators.md, and it imports nothing of the
// gateway or its drivers.
//
// The recipe is in mirror.go: a cursor first, then all records (read.go), then the changes
// after the cursor, again and again. Each page is stored together with how far that was
// (copy.go), so that a run may end at any moment and the next one goes on. verify.go compares
// a copy with the digests of the service, and mends it. client.go asks.
package mirror
