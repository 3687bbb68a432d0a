// Package backendtest is the conformance suite: it holds a running frontdesk,
// and so the backend behind it, to every documented row and rule.
//
// It is a black box: it speaks HTTP to a base URL, with an api_key and a login,
// and knows nothing of the driver. What there is to test it learns from GET
// /authenticate/acces and GET /model/<name>, so that a vendor's narrower model
// is judged by what it has. It makes the records that it needs in the client of
// the login, which should be a scratch one, and deletes them again; read-only it
// uses records that it finds.
//
// A case asserts something and passes or fails, or it says why it cannot: it is
// impossible (this model has no such field, or nobody can provoke it from
// outside), or it needs something it was not given, such as a second login. A
// case that asserts nothing fails.
//
// The table (table.go) says of every row of the interface and the contract which operations it is
// asked of, and what makes a valid request of them wrong. The suite asks the first resource that
// fits; a Desk asks the operation that it is told, for the tests of frontdesk itself. The rules
// beyond the rows are in rules_*.go.
//
// It is not a load test, and it does not look into a database: see cmd/frontdesk
// for the tests that make the built-in administration fail on purpose.
package backendtest
