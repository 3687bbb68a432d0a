// Package accesslogtest makes log lines for tests of log readers.
package accesslogtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Line returns a line of a log; members are pairs of a name and a value.
func Line(at string, members ...any) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"level":"info","ts":%q`, at)
	for i := 0; i < len(members); i += 2 {
		name, _ := json.Marshal(members[i])
		value, err := json.Marshal(members[i+1])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, `,%s:%s`, name, value)
	}
	return b.String() + "}\n"
}

// Request returns a line of the access log; more members replace the defaults.
func Request(at, id, key, client, endpoint string, status int, more ...any) string {
	return Line(at, append([]any{
		"msg", "request", "request_id", id, "key", key, "client", client, "method", "GET", "endpoint", endpoint, "query", []string{}, "status", status,
		"duration", 0.012, "backend", 0.0085, "address", "203.0.113.9", "config", "928fc90c649e",
	}, more...)...)
}

// Night returns the log of a night, in the zone of this machine.
func Night(day string) string {
	at := func(clock string) string {
		t, err := time.ParseInLocation(time.DateTime, day+" "+clock, time.Local)
		if err != nil {
			panic(err)
		}
		return t.Format("2006-01-02T15:04:05.000Z0700")
	}
	refused := func(clock, id, key, client, reason, cause string) string {
		return Request(at(clock), id, key, client, "/order", 401, "reason", reason, "cause", cause, "duration", 0.0004, "backend", 0)
	}
	return Line(at("00:00:01"), "msg", "serving", "base_url", "http://x", "config", "df71783b058e", "version", "1.2") +
		Request(at("01:00:00"), "r-served", "webshop", "Garage Jansen", "/order/{id}", 200) +
		Line(at("01:30:00"), "level", "error", "msg", "configuration not reloaded: the one before stays in force", "trigger", "SIGHUP", "config", "df71783b058e", "problems", []string{"keys.d/webshop.yaml:1:1: unknown key"}) +
		Line(at("02:11:58"), "logger", "audit", "msg", "configuration changed", "from", "df71783b058e", "to", "928fc90c649e", "trigger", "file change",
			"changes", []string{}, "api_keys", []string{"webshop"}) +
		Line(at("02:11:58"), "logger", "audit", "msg", "api_key changed", "key", "webshop", "changes", []string{"removed"}) +
		refused("02:13:07", "r-revoked", "webshop", "Garage Jansen", "token_invalid", "key_revoked") +
		refused("02:13:08", "r-unknown", "", "", "token_invalid", "unknown") +
		refused("02:13:09", "r-unknown2", "", "", "token_invalid", "unknown") +
		Request(at("02:13:10"), "r-password", "webshop", "", "/authenticate", 401, "reason", "credentials_invalid", "cause", "wrong_password") +
		refused("02:14:00", "r-again", "webshop", "Garage Jansen", "token_invalid", "key_revoked") +
		"panic: something that another program wrote\n" +
		Line(at("02:20:00"), "level", "error", "msg", "request failed", "request_id", "r-failed", "key", "planner", "client", "Garage Smit", "method", "GET", "endpoint", "/vehicle", "error", "connection refused") +
		Request(at("02:20:00"), "r-failed", "planner", "Garage Smit", "/vehicle", 500, "reason", "backend_unavailable", "duration", 2.31, "backend", 2.29) +
		Line(at("02:30:00"), "msg", "request failed", "request_id", "r-only-failed", "key", "planner", "client", "Garage Smit", "method", "GET", "endpoint", "/vehicle", "error", "no route") +
		Request(at("03:00:00"), "r-allowlist", "planner", "Garage Smit", "/order/{id}", 400, "reason", "method_unsupported", "method", "DELETE") +
		Request(at("03:00:01"), "r-nowhere", "planner", "Garage Smit", "", 400, "reason", "endpoint_unknown") +
		Request(at("03:00:02"), "r-arrays", "planner", "Garage Smit", "/order", 403, "reason", "field_not_in_model", "lacks", []string{"POST /orderline"}) +
		strings.ReplaceAll(Request(at("03:00:04"), "r-old", "planner", "Garage Smit", "/vehicle", 400, "reason", "page_invalid", "cause", "made_up"), `,"backend":0.0085`, "")
}
