package mapping_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// plainBodies are read without the decoder for all of JSON.
var plainBodies = []string{
	`{}`, " \t\r\n{ \"reference\" : \"PO-1\" ,\n\"mileage\":-0 } \n", `{"mileage":null,"is_blocked":0}`,
	`{"order_date":"2026-07-01","delivery_date":"2026-07-01T10:00:00.1239+02:00"}`, "{\"reference\":\"Renée \u2028\x7f\"}",
	`{"orderlines":[]}`, `{"orderlines":[{"quantity":1.50,"price":-0.00005,"description":""}, {}],"reference":null}`,
}

// otherBodies are left to it, whether they are right or wrong.
var otherBodies = []string{
	``, ` `, `{`, `{"`, `{"reference`, `{"reference"`, `{"reference":`, `{"reference":"`, `{"reference":"x"`, `{"reference":"x",`, `{"reference":"x",}`, `{,}`,
	`{}{}`, `{}]`, "{}\x00", "\ufeff{}", "\u00a0{}", "{}\u00a0", "{}\v", `[]`, `null`, `"x"`, `{"reference" "x"}`, `{"reference":"x" "mileage":1}`,
	`{"reference":"\u0041"}`, `{"r\u0065ference":"x"}`, `{"reference":"a\"b"}`, `{"reference":"a\\"}`, "{\"reference\":\"a\nb\"}", "{\"reference\":\"\x00\"}",
	"{\"reference\":\"\xff\"}", "{\"reference\":\"\xc0\x80\"}", "{\"reference\":\"\xed\xa0\x80\"}", "{\"reference\":\"é\n\"}", `{"reference":"é\n"}`,
	`{"mileage":01}`, `{"mileage":+1}`, `{"mileage":-}`, `{"mileage":1.}`, `{"mileage":.5}`, `{"mileage":1e2}`, `{"mileage":1.5}`, `{"mileage":1-2}`, `{"mileage":2147483648}`,
	`{"mileage":NaN}`, `{"mileage":true}`, `{"mileage":"1"}`, `{"mileage":nul}`, `{"mileage":nullx}`, `{"mileage":}`, `{"mileage":{}}`, `{"mileage":[1]}`,
	`{"reference":1}`, `{"reference":}`, `{"order_date":"2026-13-01"}`, `{"colour":1}`, `{"Reference":"x"}`, `{"":1}`, `{"id":1,"id":1}`, `{"reference":null,"reference":"x"}`,
	`{"orderlines":null}`, `{"orderlines":{}}`, `{"orderlines":[{},]}`, `{"orderlines":[,]}`, `{"orderlines":[null]}`, `{"orderlines":[{}}`, `{"orderlines":[{"quantity":1e2}]}`,
	`{"orderlines":[{"quantity":1,"quantity":1}]}`, `{"orderlines":[],"orderlines":[]}`,
}

func TestWhichBodiesArePlain(t *testing.T) {
	order, loc := resource(t, "order"), amsterdam(t)
	plain := func(body string, arrays mapping.Arrays) bool {
		_, ok := mapping.DecodePlain(order, arrays, []byte(body), loc)
		return ok
	}
	for _, body := range plainBodies {
		assert.True(t, plain(body, nil), "%q", body)
	}
	for _, body := range otherBodies {
		assert.False(t, plain(body, nil), "%q", body)
	}
	lines := func(n int) string { return `{"orderlines":[{}` + strings.Repeat(`,{}`, n-1) + `]}` }
	assert.True(t, plain(lines(mapping.MaxElements), nil))
	assert.False(t, plain(lines(mapping.MaxElements+1), nil))
	assert.False(t, plain(lines(1), onlyArrays{}), "an array that the sender does not know")
	long := func(n int) string { return `{"reference":"` + strings.Repeat("x", n-len(`{"reference":""}`)) + `"}` }
	assert.True(t, plain(long(16<<10), nil))
	assert.False(t, plain(long(16<<10+1), nil))
}

// TestPlainBodiesOfEveryField: each field of each resource, by each form of a value, is read
// the same way as by the decoder for all of JSON.
func TestPlainBodiesOfEveryField(t *testing.T) {
	loc := amsterdam(t)
	read := 0
	for _, r := range embeddedModel(t).Resources {
		for i := range r.Fields {
			name := strconv.Quote(r.Fields[i].Name)
			for _, value := range []string{
				`null`, `""`, `"x"`, `"aGVsbG8="`, `"2026-07-01T10:00:00Z"`, `"2026-07-01"`, `0`, `-0`, `-0.0`, `12`, `12.345678`, `99999999999999.99`, `1e5`,
				strings.Repeat("9", 400), strings.Repeat("9", 401), `[]`, `[{}]`, `[{},{"id":null}]`, `true`,
			} {
				body := []byte("{" + name + ":" + value + "}")
				got, ok := mapping.DecodePlain(r, nil, body, loc)
				if !ok {
					continue
				}
				read++
				want, err := mapping.DecodeAny(r, nil, body, loc)
				require.NoError(t, err, "%s", body)
				require.Equal(t, want, got, "%s", body)
			}
		}
	}
	require.Greater(t, read, 1000)
}
