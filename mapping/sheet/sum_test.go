package sheet_test

import (
	"testing"
	"time"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"

	"github.com/stretchr/testify/assert"
)

// ETags outlive this process, and so must sums.
func TestSum(t *testing.T) {
	assert.EqualValues(t, 4094241239768241302, sheet.Sum("Visser"), "as before")
	if sheet.Sum("Visser ") == sheet.Sum("Visser") {
		t.Error("another text has the same sum")
	}
}

// Tags outlive this process too.
func TestTag(t *testing.T) {
	r := &mapping.Resource{Fields: []mapping.Field{{Type: mapping.Int4}, {Type: mapping.Varchar}, {Type: mapping.Timestamp}, {Type: mapping.Varchar}, {Type: mapping.Array}, {Type: mapping.Bytea}}}
	rec := mapping.Record{Resource: r, Version: 3, Values: []mapping.Value{
		mapping.IntValue(7), mapping.TextValue("Visser"), mapping.TimeValue(time.UnixMilli(1700000000000)), {}, mapping.RecordsValue(), mapping.BytesValue([]byte("abc")),
	}}
	other := mapping.Record{Resource: r, Version: 4, Values: []mapping.Value{mapping.IntValue(8), mapping.TextValue(""), mapping.NullValue(), {}, {}, {}}}
	const alone, withElements = 1960434718210406992, 4452417326054419091
	assert.EqualValues(t, alone, sheet.Tag(rec, nil), "as before")
	if got := sheet.Tag(rec, []mapping.Record{other, rec}); got != withElements {
		t.Errorf("tag %d with elements, expected the %d of before", got, withElements)
	}
}
