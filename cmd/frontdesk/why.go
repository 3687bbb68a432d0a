package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/mapping"
)

type whyCommand struct {
	Client string        `placeholder:"NAME" help:"Tell what this client was refused, in place of one request."`
	Key    string        `placeholder:"NAME" help:"The same of an api_key; also for logins, whose client nobody knows where they fail."`
	At     terminal.When `placeholder:"WHEN" help:"About when that was: 02:13 (when the clock last said so), 2026-11-01 02:13, or a time as RFC 3339 has it. Without it the newest are told."`
	Within time.Duration `default:"5m" placeholder:"TIME" help:"How far from then it may have been (default: 5m)."`
	Limit  int           `default:"3" help:"How many refusals are told in full."`
	Args   []string      `arg:"" name:"request-id|log" help:"The request id of the answer, unless --client or --key is given; then logs (JSON lines), rotated ones too, plain or gzip, - for standard input."`
}

// Help tells what the short help has no room for.
func (whyCommand) Help() string {
	return "It tells what was asked, what was answered, why, and what to do about it, and what was changed in the hour before. The log is read once, and of any size. Exit code: 1 where the log has no such request."
}

// Run tells why a request, or those of a client, were answered as they were.
func (c whyCommand) Run(p desk.Program) error {
	q, logs := inquiry{whyCommand: c}, c.Args
	q.about = c.At.From(time.Now())
	if c.Client == "" && c.Key == "" {
		q.id, logs = logs[0], logs[1:]
	}
	if len(logs) == 0 || q.id == "" && c.Client == "" && c.Key == "" || q.id != "" && !q.about.IsZero() {
		return desk.Misused("expected a request id and a log, or --client NAME --at 02:13 and a log")
	}
	if err := readLogs(p, logs, q.take); err != nil {
		return err
	}
	return q.tell(p.Stdout)
}

// inquiry is what is found in a log about a request, or about those of a client. It keeps
// as much of a long log as of a short one.
type inquiry struct {
	whyCommand
	id    string    // of the request; "" where it is about a client or an api_key
	about time.Time // zero for the newest

	told      []accessLine     // the nearest that were refused, or the one that is asked about
	alike     int64            // requests of the id that is asked about
	lost      bool             // the log says that lines of it were lost
	others    map[string]int64 // refused besides, by cause
	nobody    map[string]int64 // refused in that time, of nobody known
	served    int64
	elsewhere bool            // there are requests of the one that is asked about, at other times
	names     map[string]bool // of the other clients, or api_keys, to find the one that was meant
	failures  []failedLine    // the latest
	changes   []logChange     // the latest
}

// failedLine is what the log says of a request that failed, which the client is not told.
type failedLine struct {
	Time      logTime `json:"ts"`
	Message   string  `json:"msg"`
	RequestID string  `json:"request_id"`
	Key       string  `json:"key"`
	Client    string  `json:"client"`
	Method    string  `json:"method"`
	Endpoint  string  `json:"endpoint"`
	Error     string  `json:"error"`
}

// How much is kept: more names only make for worse guesses.
const (
	namesKept    = 10_000
	failuresKept = 1000
	changesKept  = 200
	changesTold  = 10
)

// recent adds to what is kept of many, the latest.
func recent[T any](kept []T, one T, most int) []T {
	if len(kept) == 2*most {
		kept = append(kept[:0], kept[most:]...)
	}
	return append(kept, one)
}

// take reads a line of the log.
func (q *inquiry) take(line []byte) {
	if change, ok := changeOf(line); ok {
		if q.matters(change.at) {
			q.changes = recent(q.changes, change, changesKept)
		}
		return
	}
	if bytes.Contains(line, []byte(`"msg":"lines of the log were lost`)) {
		q.lost = true
		return
	}
	if q.id != "" && !bytes.Contains(line, []byte(q.id)) {
		return
	}
	var l accessLine
	if l.isAccessLine(line) {
		q.takeRequest(&l)
	} else if bytes.Contains(line, []byte(`"request failed"`)) {
		q.takeFailure(line)
	}
}

func (q *inquiry) takeRequest(l *accessLine) {
	switch {
	case q.id != "":
		if l.RequestID != q.id {
			return
		}
		if q.alike++; q.alike <= int64(max(q.Limit, 1)) { // clients may send one id with all their requests
			q.told = append(q.told, *l)
		}
	case !q.isMeant(l.Client, l.Key):
		q.note(l)
		if l.Client == "" && l.Key == "" && l.Status >= 400 && !q.about.IsZero() && q.isNear(l.Time.at) {
			tally(&q.nobody, l)
		}
	case !q.isNear(l.Time.at):
		q.elsewhere = true
	case l.Status < 400:
		q.served++
	default:
		q.takeRefusal(l)
	}
}

// takeRefusal keeps the nearest.
func (q *inquiry) takeRefusal(l *accessLine) {
	q.told = append(q.told, *l)
	slices.SortStableFunc(q.told, func(a, b accessLine) int { return cmp.Compare(q.distance(a.Time.at), q.distance(b.Time.at)) })
	if last := len(q.told) - 1; last >= max(q.Limit, 1) {
		tally(&q.others, &q.told[last])
		q.told = q.told[:last]
	}
}

func (q *inquiry) takeFailure(line []byte) {
	var f failedLine
	if json.Unmarshal(line, &f) == nil && (f.RequestID == q.id || q.id == "" && q.isMeant(f.Client, f.Key) && q.isNear(f.Time.at)) {
		q.failures = recent(q.failures, f, failuresKept)
	}
}

// isMeant tells whether a request is of the client and the api_key that are asked about.
func (q *inquiry) isMeant(client, key string) bool {
	return (q.Client == "" || strings.EqualFold(q.Client, client)) && (q.Key == "" || q.Key == key)
}

func (q *inquiry) isNear(at time.Time) bool {
	return q.about.IsZero() || at.Sub(q.about).Abs() <= q.Within
}

// distance is how far a request is from the moment that is asked about.
func (q *inquiry) distance(at time.Time) time.Duration {
	if q.about.IsZero() {
		return -time.Duration(at.UnixNano())
	}
	return at.Sub(q.about).Abs()
}

// matters tells whether a change may have to do with what is told, as far as that is known.
func (q *inquiry) matters(at time.Time) bool {
	switch {
	case q.id != "" && len(q.told) > 0:
		return isBefore(at, q.told[0].Time.at)
	case q.about.IsZero():
		return true
	}
	return at.After(q.about.Add(-q.Within-changesWithin)) && !at.After(q.about.Add(q.Within))
}

// changesWithin is how long before a request a change is told beside it.
const changesWithin = time.Hour

// isBefore tells whether a change was made shortly before a request was answered.
func isBefore(change, request time.Time) bool {
	return change.After(request.Add(-changesWithin)) && !change.After(request)
}

// note keeps the name of one that is not asked about.
func (q *inquiry) note(l *accessLine) {
	name := l.Key
	if q.Client != "" {
		name = l.Client
	}
	if q.names == nil {
		q.names = map[string]bool{}
	}
	if name != "" && mapping.IsPlain(name) && len(q.names) < namesKept {
		q.names[name] = true
	}
}

// tally counts refusals by their cause.
func tally(counted *map[string]int64, l *accessLine) {
	if *counted == nil {
		*counted = map[string]int64{}
	}
	(*counted)[fmt.Sprintf("%d %s", l.Status, cmp.Or(l.Cause, l.Reason))]++
}
