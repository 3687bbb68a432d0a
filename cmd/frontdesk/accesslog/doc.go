// Package accesslog reads logs of any size, once, and reports from them: the requests and
// their outcome, the clients with most requests, the slow requests, why a request was
// answered as it was, and changes. The lines are written by gateway/log.go and, for
// changes, by cmd/frontdesk/desk. The log is its only source; package allowlist draws
// conclusions for allowlists.
package accesslog
