package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"frontdesk/mapping"
)

// Safe makes a path or a name safe for a terminal.
func Safe(text string) string {
	if mapping.IsPlain(text) {
		return text
	}
	return strconv.Quote(text)
}

// WriteJSON writes a line of JSON that is safe for a terminal: invisible characters are escaped.
func WriteJSON(out io.Writer, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	safe := make([]byte, 0, text.Len())
	for _, r := range text.String() {
		if r == '\n' || unicode.IsGraphic(r) {
			safe = utf8.AppendRune(safe, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			safe = fmt.Appendf(safe, `\u%04x`, unit)
		}
	}
	_, err := out.Write(safe)
	return err
}

// Count groups digits: 1,204,331.
func Count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Several counts things: 0 lines, 1 line, 2 lines.
func Several[N int | int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Count(n) + " " + thing
}

// Minute formats a moment in the time zone of this machine, with the name of the zone.
func Minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// Second is Minute to the second; - for the zero time.
func Second(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// Age formats how long ago something was, in one or two units.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0)/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d/time.Hour), int(d%time.Hour/time.Minute))
	default:
		return fmt.Sprintf("%dd%dh", int(d/(24*time.Hour)), int(d%(24*time.Hour)/time.Hour))
	}
}
