// Package redis keeps what several gateways share in a Redis server, or one that
// speaks its protocol: sessions, so that a token is known to every instance and a
// logout ends it on every instance; the wrong credentials that logins are throttled
// by; and what of its limits each api_key has used.
//
// Every question goes to the server: nothing is cached here, since a copy would
// outlive a logout. A call that was answered is therefore true on every instance
// at once. Where the server is away, or does not answer within the time-out, every
// method fails with an error that is not auth.ErrNoSession: nobody is let in, and
// nobody is told that a token is wrong.
//
// It is not for records, callbacks or idempotency keys, which must survive the
// server's loss: losing it ends every session and has guesses and limits counted
// anew, and nothing else.
package redis
