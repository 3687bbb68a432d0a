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
func (l Logs) Requests(ctx context.Context, since time.Time, each func(line *Line, older bool)) (s Summary, err error) {
	var line Line
	err = l.read(ctx, func(text []byte) {
		if !line.Read(text) || line.Method == "" { // of something else, or of what could not be read as a request
			s.Other++
			return
		}
		at := line.Time.at
		if at.Before(since) {
			s.Older++
			each(&line, true)
			return
		}
		if s.Oldest.IsZero() || at.Before(s.Oldest) {
			s.Oldest = at
		}
		if at.After(s.Newest) {
			s.Newest = at
		}
		s.Lines++
		each(&line, false)
	})
	return s, err
}
