// Package webhook notifies clients that their long-running work is complete: it
// calls the webhook_url that they gave, and repeats the call until it is answered.
//
// # The life of a callback
//
//  1. ParseCallback (address.go) judges the webhook_url when the work is
//     accepted: https, an allowed port, no address that is known to be private.
//  2. Caller.Call (caller.go) is one try. It judges the address again under the
//     rules of the day, and every address that its name resolves to when it connects,
//     so that a name that was public yesterday leads to no private address today.
//     The request is signed (signature.go).
//  3. A host that keeps failing, or that has enough calls under way, is not called
//     for a while (breaker.go): that is not a try.
//  4. Schedule.Next (schedule.go) turns the outcome into the next try, or the end.
//
// A callback contains only the id: the client fetches the result itself, with its
// session. So only the status of the receiver's answer matters.
//
// The package is not a general HTTP client: it calls only addresses that clients give,
// and follows no redirect.
package webhook
