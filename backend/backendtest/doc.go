// Package backendtest is the conformance suite: it tests a running frontdesk,
// and so the backend behind it, for every documented row and rule.
//
// It is a black box: it speaks HTTP to a base URL, with an api_key and a login,
// and knows nothing of the driver. It learns what there is to test from GET
// /authenticate/acces and GET /model/<name>, so a vendor's narrower model is
// judged by what it has. It makes the records that it needs in the client of
// the login, which should be a scratch one, and deletes them again; read-only it
// uses records that it finds.
//
// A case asserts something and passes or fails, or it says why it cannot: it is
// impossible (this model has no such field, or nobody can provoke it from
// outside), or it needs something it was not given, such as a second login. A
// case that asserts nothing fails.
//
// The table (table.go) says for every row of the interface and the contract which operations can
// return it, and what makes a valid request of them wrong. The suite tests the first resource that
// fits; a Desk tests a given operation, for the tests of frontdesk itself. The rules that are not
// rows are in rules_*.go.
//
// It is not a load test, and it does not look into a database: see cmd/frontdesk
// for the tests that make the built-in administration fail on purpose.
package backendtest
