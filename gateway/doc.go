// Package gateway is the documented interface over HTTP.
//
// # The life of a request
//
// Fiber serves the requests (server.go). The app that it hands them to (app.go) belongs to one
// configuration: it has the Policy that holds for a whole request, a route for each operation of
// the endpoint table (routes.go), and handlers around all of them: the Exchange with the request's
// id, access log, metrics, trace, the wording of errors, recover, and what refuses ambiguous
// framing (framing.go). Then come the stages (pipeline.go), in the order of the contract. The first
// that finds something wrong ends the request:
//
//  1. endpoint: the route of the path, as it was sent. Nothing is decoded or cleaned: what is
//     judged is what is routed.
//  2. session: the token header is looked up by its hash, and its api_key must be
//     one that this caller may use.
//  3. allowlist: may the session's api_key use this operation? One that may not use all
//     fields goes on with the operation of a narrowed model (rights.go). Rights to
//     arrays of records are judged where the request names an array, in 5 and 6
//     (arrays.go).
//  4. limits of the client with the api_key: rate, concurrent requests, daily count.
//  5. query: repeated, unsupported, missing, then ill-valued parameters.
//  6. body: it is read only now, and waits while its client's share of the memory is
//     used up (bodies.go); too large, empty, or not JSON.
//  7. record: the body alone against its model; every violation at once.
//  8. serve: the operation itself, which asks the backend.Client; the rules that need
//     other records are judged there.
//
// An error is a mapping.Error without words. errors.go finds its status and words in the error
// tables, in the scope of the operation; respond.go writes all other answers, and compress.go
// compresses the body of a list. At the end, in any case, the request gives back its concurrency
// slot of the api_key, is counted and timed, ends its span and gets its line in the access log.
// What is left of a small body is read, and Fiber sends the answer.
//
// docs/development.md follows a GET and a POST through the files and functions, down to
// the database. Explain takes a hypothetical request through the same handlers, except
// limits and serve; a background job goes from query on.
//
// POST and PUT of /<resource>/bulk take several records (bulk.go). The stages judge the
// request as a whole; then serve takes each record alone through what 6 to 8 do for a
// request with one record, and answers the result of each (bulk_run.go).
//
// POST /mcp has one message of an agent (agents.go). A tool that it calls makes a request of the same
// session, which goes through the stages like any other.
//
// The gateway knows no driver and no database: it is handed a backend.Client,
// a login and a session store, and its clock and logger.
package gateway
