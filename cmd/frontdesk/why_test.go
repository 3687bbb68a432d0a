package main

import (
	"testing"

	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"

	"github.com/stretchr/testify/require"
)

// TestLogsOfSomebodyElse: what a log holds does nothing to the terminal of who reads it.
func TestLogsOfSomebodyElse(t *testing.T) {
	const trick = "\x1b[31m"
	at := "2026-11-22T02:00:00.000Z"
	log := accesslogtest.Request(at, "id"+trick, trick, trick, trick, 400, "reason", trick, "cause", trick, "method", trick, "query", []string{trick}, "address", trick, "config", trick, "lacks", []string{trick}) +
		accesslogtest.Request(at, "id"+trick, trick, trick, trick, 200, "reason", trick) + accesslogtest.Request(at, "id"+trick, trick, trick, trick, 403, "lacks", []string{trick}, "reason", trick) +
		accesslogtest.Request(at, "id"+trick, trick, trick, trick, 400, "reason", "endpoint_unknown") +
		accesslogtest.Line(at, "msg", "request failed", "request_id", "id"+trick, "key", trick, "client", trick, "method", trick, "endpoint", trick, "error", trick) +
		accesslogtest.Line(at, "logger", "audit", "msg", trick, trick, trick, "changes", []string{trick})
	for _, args := range [][]string{
		{"why", "id" + trick, "-", "--limit", "9"}, {"why", "--client", trick, "-"}, {"why", "--key", trick, "-"}, {"why", "--key", "x" + trick, "-"}, {"why", "x" + trick, "-"},
	} {
		_, out, problems := cli(log, args...)
		require.NotContains(t, out+problems, "\x1b", "%q", args)
		require.Contains(t, out+problems, `\x1b[31m`, "%q", args)
	}
}
