// Package remote is the driver for an administration that is an HTTP service.
//
// The service is spoken to as its mapping sheet says (package mapping/sheet): which call each
// operation is, where values are in its answers, how it pages and how its errors are
// recognised.
//
// How a call goes: Store (store.go) finds the operation and the IDs, a service
// (service*.go) words the request, exchange.go sends it, with the token of the log-on
// (logon.go), over one of a bounded number of connections (pool.go, conn.go), and
// scan_json.go or scan_xml.go take the places of the sheet out of the answer in one pass.
//
// What may be trusted is little: an answer is bounded in size, depth and time, and
// whatever is not foreseen is a plain error, whose text is for the log. A write is
// sent once. Reads alone are tried again.
//
// The package is not a place for conversions of values (mapping/sheet) or for
// business rules (package backend).
package remote
