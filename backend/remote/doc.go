// Package remote is the driver for an administration that is an HTTP service.
//
// The service is spoken to as its mapping sheet says (package mapping/sheet): which call each
// operation is, where values are in its answers, how it pages and how its errors are
// recognised.
//
// A connector (connector*.go) walks, gets and writes the service's records, and keeps none. How
// a call goes: connector_call.go makes the request, exchange.go sends it, with the token of the
// log-on (connector_logon.go), over one of a bounded number of connections (pool.go, conn.go),
// and sheet.ParseJSON or connector_xml.go reads the answer.
//
// The copy (copy*.go) has the records in tables of the gateway's own. Walks fill it, and lists
// and changes come from it. The Driver (driver.go, write.go) answers records one by one, and
// writes, from the service, and stores what it learns in the copy.
//
// The service is trusted little: an answer is bounded in size, depth and time, and
// anything unforeseen is a plain error, whose text is for the log. A write is sent
// once. Only reads are tried again.
//
// The package is not a place for conversions of values (mapping/sheet) or for
// business rules (package backend).
package remote
