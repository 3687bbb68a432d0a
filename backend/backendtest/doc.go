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
// The case of a row is also the one way in which its error is brought about: a
// Desk asks it of any operation that may answer with the error, for the tests of
// frontdesk itself.
//
// It is not a load test, and it does not look into a database: see cmd/frontdesk
// for the tests that make the built-in administration fail on purpose.
package backendtest
