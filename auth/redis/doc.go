// Package redis keeps what several gateways share in a Redis server, or one that speaks
// its protocol: sessions, so that every instance knows a token and a logout ends it on
// every instance; failed logins, by which logins are throttled; what each
// client has used of its limits; and figures that gateways share for the operators' pages.
//
// Every request goes to the server. Nothing is cached here, since a copy would outlive a
// logout, so an answered call is true on every instance at once. If the server is down, or
// does not answer within the time-out, every method fails with an error that is not
// auth.ErrNoSession: no caller is let in, and no caller is told that its token is wrong.
//
// It is not for records, callbacks or idempotency keys, which must survive the
// server's loss: losing it ends every session and has guesses and limits counted
// anew, and nothing else.
package redis
