// Package remotetest has a service that the remote driver is tested against: an
// invented administration of garages, and a proxy that fails on demand.
//
// Garage Cloud (NewJSON) speaks JSON. It is a server in earnest: it keeps
// records, gives out IDs and numbers, computes totals, judges what it is sent
// and asks for a log-on that expires. It keeps everything in memory, filled
// with the same sample data every time. FaultProxy stands before any HTTP
// service and fails as a test says.
//
// The package knows nothing of frontdesk. That is the point: what a sheet says
// about a service is tested against a service that nobody bent to fit. It is
// not for production, and its passwords are no secrets.
//
// How it is made: the records and rules are those of one administration
// (entity.go, ledger.go, rules.go, sample.go), with names of its own. A skin
// (skin.go) says how the service spells them, and json_*.go how it speaks.
package remotetest
