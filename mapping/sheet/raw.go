package sheet

// RawKind says what a Raw holds.
type RawKind uint8

// The kinds of values in existing systems.
const (
	RawAbsent RawKind = iota // the answer does not have the place at all
	RawNull
	RawBool
	RawInt
	RawNumber // a decimal as text: -12.50, 1e3
	RawText
	RawBytes
	RawTime // milliseconds since 1970 UTC; of a date without zone: as if in UTC
)

// Raw is a value as an existing system has it, before conversion. The zero Raw
// is absent. Two are equal when == says so.
type Raw struct {
	Kind RawKind
	Int  int64  // RawBool (0, 1), RawInt, RawTime
	Text string // RawNumber, RawText, RawBytes
}
