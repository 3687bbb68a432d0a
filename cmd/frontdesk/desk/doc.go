// Package desk is the running frontdesk: it builds every part of what a
// configuration says, top to bottom, serves, follows changes of the configuration,
// tells operators how it does, and stops. It is not the command line, which is
// above it, and knows nothing of requests, which are the gateway's.
package desk
