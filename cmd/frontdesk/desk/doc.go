// Package desk is the running frontdesk. Its parts, in the order in which they come:
//
//   - serve.go is what "frontdesk serve" does: it reads the configuration, builds, serves.
//   - desk.go lists the parts in the order in which they need each other (Build): backends.go
//     opens the driver, front.go makes client, logins, gateway and server, sessions.go what
//     gateways share, callbacks.go what the gateway stores and its callbacks; basis.go is what
//     they all stand on.
//   - serving.go answers requests until the program is told to stop, and then drains.
//   - reload*.go follow the files of the configuration: the reloader reads, judges, builds
//     a snapshot and swaps it in. What it changed is in the audit log (reload_audit.go).
//   - health.go is /readyz, metrics*.go register and collect the metrics, status*.go is the
//     operators' page, logs*.go write the log, acts.go tells the audit log of what people do.
//
// The command line is above it, and requests are the gateway's.
package desk
