// Package desk is the running frontdesk. Its parts, in the order in which they are used:
//
//   - serve.go is what "frontdesk serve" does: it reads the configuration, builds, serves. start.go
//     builds again and again while what it needs is away, and standin.go answers at the listeners
//     (doors.go) meanwhile.
//   - desk.go builds them in stages (Build), each from the one before: basis.go has what all
//     need, backends.go opens the driver, sessions.go what gateways share, callbacks.go the
//     gateway's own store and its callbacks, front.go client, logins, gateway and server.
//   - serving.go answers requests until the program is told to stop, and then drains.
//   - reload*.go follow the files of the configuration: the reloader reads, judges, builds
//     a snapshot and swaps it in. What it changed is in the audit log (reload_audit.go).
//   - health.go is /readyz, metrics*.go register and collect the metrics, status*.go is the
//     operators' page, logs*.go write the log, acts.go tells the audit log of what people do.
//
// The command line is above it, and requests are the gateway's.
package desk
