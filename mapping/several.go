package mapping

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxRecords is how many records one body may have.
const MaxRecords = 500

// SeveralField is the member of a body that holds several records.
const SeveralField = "records"

// Several is a body with several records, none of which has been read yet.
type Several struct {
	Records [][]byte // each as it was sent
	All     []byte   // the whole array, as it was sent
	Other   Value    // the member that DecodeSeveral's other names, in the form of CutMember
	// Violations are the violations of the body, in its order.
	Violations Violations
}

// DecodeSeveral reads a JSON object with the member records and, unless other is "", a
// member of that name. It checks that all of it is JSON, but does not judge the records. The
// error is EmptyBody, BodyNotJSON or BodyTooLarge. The result refers to data.
func DecodeSeveral(data []byte, other string) (*Several, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, Fail(EmptyBody)
	}
	r := severalReader{jsontext.NewDecoder(bytes.NewBuffer(data)), data}
	return readWhole(r.json, data, func() (*Several, error) { return r.object(other) })
}

type severalReader struct {
	json *jsontext.Decoder
	data []byte
}

// value reads the next value, and fails if it nests too deep.
func (r severalReader) value() (jsontext.Value, error) { return readBounded(r.json) }

func (r severalReader) object(other string) (*Several, error) {
	if _, err := r.json.ReadToken(); err != nil {
		return nil, err
	}
	s := &Several{}
	supplied := false
	for r.json.PeekKind() != '}' {
		raw, err := r.value()
		if err != nil {
			return nil, err
		}
		switch name := unquote(raw); {
		case name == SeveralField:
			supplied = r.json.PeekKind() != 'n'
			err = r.records(s)
		case name == other && other != "":
			var value jsontext.Value
			value, err = r.value()
			s.Other = memberValue(value)
		default:
			_, err = r.value()
			if len(s.Violations) < MaxViolations {
				s.Violations = append(s.Violations, Fail(FieldNotInModel, name))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case !supplied:
		s.Violations = append(s.Violations, Fail(FieldRequired, Literal(SeveralField)))
	case len(s.Records) == 0: // what is not an array is judged like an empty one, as in a record
		s.Violations = append(s.Violations, Fail(ArrayEmpty, Literal(SeveralField)))
	}
	_, err := r.json.ReadToken()
	return s, err
}

// records splits the array of records.
func (r severalReader) records(s *Several) error {
	if r.json.PeekKind() != '[' {
		_, err := r.value()
		return err
	}
	if _, err := r.json.ReadToken(); err != nil {
		return err
	}
	begin := r.json.InputOffset() - 1
	for r.json.PeekKind() != ']' {
		raw, err := r.value()
		if err != nil {
			return err
		}
		if len(s.Records) == MaxRecords {
			return errTooMany
		}
		end := r.json.InputOffset()
		s.Records = append(s.Records, r.data[end-int64(len(raw)):end])
	}
	_, err := r.json.ReadToken()
	s.All = r.data[begin:r.json.InputOffset()]
	return err
}
