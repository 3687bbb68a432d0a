// Package remotetest has the services that the remote driver is tested against:
// two invented administrations of garages, and a proxy that fails on demand.
//
// Garage Cloud (NewJSON) speaks JSON after the fashion of the 2020s, AutoLijn
// (NewSOAP) speaks SOAP 1.1 after the fashion of the 2000s. Both are servers in
// earnest: they keep records, give out IDs and numbers, compute totals, judge
// what they are sent and ask for a log-on that expires. They keep everything in
// memory, filled with the same sample data every time. FaultProxy stands before
// any HTTP service and misbehaves as told.
//
// The package knows nothing of frontdesk. That is the point: what a sheet says
// about a service is tested against a service that nobody bent to fit. It is
// not for production, and its passwords are no secrets.
//
// How it is made: the records and rules are those of one administration
// (entity.go, ledger.go, rules.go, sample.go), with names of its own. A skin
// (skin.go) says how a service spells them; json_*.go and soap_*.go are what
// differs between the two by more than spelling.
package remotetest
