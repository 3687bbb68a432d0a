// Package history keeps what a gateway did: two hours in steps of ten seconds and a day in
// minutes, of everything together and of the busiest endpoints, api_keys, clients,
// reasons and calls of the backend, with the last refusals and failures one by one. It lives in the memory of the
// process, which it takes a bounded part of, and is kept over a restart in one small file.
//
// A request is noted when it is answered (Note), without allocating. Once in a step
// somebody looks at what has no requests of its own, such as connections (Sample). Pages
// ask for a window of it (Series, Busiest, Refusals, Marks).
package history
