package sheet_test

import (
	"strings"
	"testing"

	"frontdesk/mapping/sheet"

	"github.com/stretchr/testify/assert"
)

func TestParams(t *testing.T) {
	for sql, want := range map[string]string{
		"":                                     "",
		"a = :value":                           "value",
		":a+:b_2 :c":                           "a b_2 c",
		":value::text || x::int":               "value",
		"a[1:2] @v := 1, b ::c":                "",
		"CALL P(:client, :key.RELNR, :key.)":   "client key.RELNR key",
		":name.x :keys.y":                      "name.x keys.y",
		"to_char(a, 'HH24:MI') = :v":           "v",
		"'it''s :a' || \":b\" || `:c` || :d":   "d",
		"[:a] = ARRAY[:b]":                     "b",
		"a -- :b\n= :c":                        "c",
		"a /* :b */ = :c /* :d":                "c",
		"a # :b\n= :c":                         "c",
		"j #>> '{a}' = :c AND j #- '{b}' = :d": "c d",
		"$$ :a $$ || $f$ :b $$ $f$ || :c":      "c",
		"a$b$ || :c || $1":                     "c",
		"'open :a":                             "",
		": :1 :é":                              "",
	} {
		var names []string
		for _, p := range sheet.Params(sql) {
			names = append(names, p.Name)
			assert.Equal(t, ":"+p.Name, sql[p.From:p.To])
		}
		assert.Equal(t, want, strings.Join(names, " "), sql)
	}
}

func FuzzParams(f *testing.F) {
	f.Add("a = :value AND 'b' <> $$c$$ -- d")
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		for _, p := range sheet.Params(sql) {
			if p.From < end || p.To > len(sql) || sql[p.From:p.To] != ":"+p.Name || p.Name == "" {
				t.Fatalf("%+v in %q", p, sql)
			}
			end = p.To
		}
	})
}
