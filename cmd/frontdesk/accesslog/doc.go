// Package accesslog reads logs of any size, once, and tells what happened to whom and
// when: which requests there were and what became of them, who asked for most and what
// took long, why a request was answered as it was, what was changed. What writes these
// lines is gateway/log.go, and for changes cmd/frontdesk/desk. It asks nobody but the
// log; what allowlists make of it is for package allowlist.
package accesslog
