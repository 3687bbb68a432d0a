package accesslog

import (
	"context"
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// Summary is what was read, beside the lines themselves.
type Summary struct {
	Lines  int64     `json:"lines"`  // of the access log, within the time asked for
	Older  int64     `json:"older"`  // of the access log, before it
	Other  int64     `json:"other"`  // of anything else
	Oldest time.Time `json:"oldest"` // line within the time asked for; zero without any
	Newest time.Time `json:"newest"`
}

// String tells in a sentence what was read.
func (s Summary) String() string {
	if s.Lines == 0 {
		return fmt.Sprintf("no line of an access log in that time (%s older, %s)", terminal.Count(s.Older), terminal.Several(s.Other, "other line"))
	}
	text := fmt.Sprintf("%s from %s to %s", terminal.Several(s.Lines, "request"), terminal.Minute(s.Oldest), terminal.Minute(s.Newest))
	if s.Older > 0 {
		text += fmt.Sprintf(", %s left out", terminal.Several(s.Older, "older one"))
	}
	if s.Other > 0 {
		text += fmt.Sprintf(", %s passed over", terminal.Several(s.Other, "other line"))
	}
	return text
}

// Requests hands every line of the access logs to each, in the order of the files, and
// tells whether it is before since. The line is only lent.
func (l Logs) Requests(ctx context.Context, since time.Time, each func(line *Line, older bool)) (Summary, error) {
	r := requestReader{since: since, each: each}
	err := l.read(ctx, r.take)
	return r.summary, err
}

type requestReader struct {
	since   time.Time
	each    func(line *Line, older bool)
	summary Summary
	line    Line
}

// take reads one line. What is no line of the access log, or of what could not be read as
// a request, is counted.
func (r *requestReader) take(line []byte) {
	if !r.line.Read(line) || r.line.Method == "" {
		r.summary.Other++
		return
	}
	at := r.line.Time.at
	if at.Before(r.since) {
		r.summary.Older++
		r.each(&r.line, true)
		return
	}
	if r.summary.Oldest.IsZero() || at.Before(r.summary.Oldest) {
		r.summary.Oldest = at
	}
	if at.After(r.summary.Newest) {
		r.summary.Newest = at
	}
	r.summary.Lines++
	r.each(&r.line, false)
}
