// Package desk is the running frontdesk. Its parts, in the order in which they are used:
//
//   - serve.go is what "frontdesk serve" does: it reads the configuration, builds, answers requests
//     until it is to stop, and drains. start.go builds again and again while a database or store is unavailable.
//   - desk.go builds (Build), from the top of Desk to its bottom: backends.go opens the driver,
//     sessions.go what gateways share, callbacks.go the gateway's own store and its callbacks,
//     logins.go who may log in. front.go has the listeners, and what answers at them before there
//     is a desk.
//   - reload*.go follow the files of the configuration: the reloader reads, judges, builds
//     a snapshot and swaps it in. What it changed is in the audit log (reload_audit.go), and the ends
//     of api_keys go to all gateways (key_ends.go).
//   - health.go is /readyz, metrics*.go register and collect the metrics, status*.go is the
//     operators' page, logs*.go write the log, acts.go writes to the audit log what people do.
//
// The command line is above it, and requests are the gateway's.
package desk
