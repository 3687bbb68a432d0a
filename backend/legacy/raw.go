package legacy

import (
	"math"
	"strconv"
	"strings"
	"time"

	"frontdesk/mapping/sheet"
)

func intRaw(n int64) sheet.Raw     { return sheet.Raw{Kind: sheet.RawInt, Int: n} }
func textRaw(s string) sheet.Raw   { return sheet.Raw{Kind: sheet.RawText, Text: s} }
func numberRaw(s string) sheet.Raw { return sheet.Raw{Kind: sheet.RawNumber, Text: s} }
func bytesRaw(b []byte) sheet.Raw  { return sheet.Raw{Kind: sheet.RawBytes, Text: string(b)} }

// instantRaw is an instant; wallRaw is what a clock on the wall showed.
func instantRaw(t time.Time) sheet.Raw { return sheet.Raw{Kind: sheet.RawTime, Int: t.UnixMilli()} }

func wallRaw(t time.Time) sheet.Raw {
	_, offset := t.Zone()
	return sheet.Raw{Kind: sheet.RawWall, Int: t.UnixMilli() + int64(offset)*1000}
}

// timeOf is a RawTime, or a RawWall as if it were in UTC.
func timeOf(v sheet.Raw) time.Time { return time.UnixMilli(v.Int).UTC() }

// plainRaw turns a value that every driver returns alike into a Raw: a float into the shortest
// decimal that is the same float, a time into one without a zone.
func plainRaw(v any) sheet.Raw {
	switch v := v.(type) {
	case int64:
		return intRaw(v)
	case uint64:
		if v > math.MaxInt64 {
			return numberRaw(strconv.FormatUint(v, 10))
		}
		return intRaw(int64(v))
	case bool:
		return boolRaw(v)
	case float64:
		return floatRaw(v, 64)
	case float32:
		return floatRaw(float64(v), 32)
	case string:
		return textRaw(v)
	case []byte:
		return bytesRaw(v)
	case time.Time:
		return wallRaw(v)
	default:
		return sheet.Raw{Kind: sheet.RawNull}
	}
}

func boolRaw(v bool) sheet.Raw {
	r := sheet.Raw{Kind: sheet.RawBool}
	if v {
		r.Int = 1
	}
	return r
}

func floatRaw(v float64, bits int) sheet.Raw {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return textRaw(strconv.FormatFloat(v, 'g', -1, bits))
	}
	return numberRaw(strconv.FormatFloat(v, 'f', -1, bits))
}

// decimalRaw is a decimal that came as text; NaN and the like stay text.
func decimalRaw(s string) sheet.Raw {
	if s == "" || strings.Trim(s, "+-.0123456789eE") != "" {
		return textRaw(s)
	}
	return numberRaw(s)
}

// textTimeRaw reads a date or time that came as text, as 2006-01-02 or 2006-01-02
// 15:04:05.999999. One that no calendar has, such as 0000-00-00 or 1956-00-00, stays text
// without a try: a failed try costs more than a row.
func textTimeRaw(s string) sheet.Raw {
	layout := time.DateOnly
	if len(s) > len(layout) {
		layout = time.DateTime // a fraction is taken with it
	}
	if len(s) < len(time.DateOnly) || s[5:7] == "00" || s[8:10] == "00" {
		return textRaw(s)
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return textRaw(s)
	}
	return wallRaw(t)
}

// bitsRaw is a BIT(n) of MySQL.
func bitsRaw(b []byte) sheet.Raw {
	n := uint64(0)
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return plainRaw(n)
}
