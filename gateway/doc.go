// Package gateway is the documented interface over HTTP.
//
// # The life of a request
//
// The listener takes in as many connections as there may be. A talk reads the header of
// each request of a connection, and leaves the body where it is. The Gateway fills an
// Exchange, with the Policy that is in force at that moment and holds to its end, and
// takes it through the stages of pipeline.go, in the order the contract gives. The first
// stage that finds something wrong ends it:
//
//  1. endpoint: the path, as it was sent, is looked up in the endpoint table
//     (routes.go). Nothing is decoded or cleaned: what is judged is what is routed.
//  2. session: the token header is looked up by its hash, and its api_key must be
//     one that this caller may use.
//  3. allowlist: may the session's api_key use this operation? In shadow mode a no is
//     only noted. Which arrays of records it may use is asked where one is named, in 5
//     and 6 (arrays.go).
//  4. limits: the api_key's rates, its requests at once and its day's.
//  5. query: repeated, unsupported, missing, then ill-valued parameters.
//  6. body: it is read only now, and waits where its client's share of the memory is
//     taken (bodies.go); too large, empty, or not JSON.
//  7. record: the body alone against its model; every violation at once.
//  8. serve: the operation itself, which asks the backend.Client; the rules that need
//     other records hold there.
//
// An error is a mapping.Error without words. respond.go, the only place that
// writes a status or a body, gives it those of the error tables, in the scope
// of the operation. Whatever became of the request, it gives back what it took of
// the concurrent ones of its api_key, is counted and timed, ends its span and gets its
// line in the access log. The talk then sends the answer, and reads what the request had
// left unread of its body, if that is not too much.
//
// docs/development.md follows a GET and a POST through the files and functions, down to
// the database. Explain takes a request that nobody sent through the same stages, but for
// limits and serve.
//
// The gateway knows no driver and no database: it is handed a backend.Client,
// a login and a session store, and its clock and logger.
package gateway
