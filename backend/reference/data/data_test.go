// Package data_test holds the material of the built-in administration to the
// model: whatever a row says, a client could have sent.
package data_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// row is one line of a file, by the names of its header line.
type row map[string]string

func read(t *testing.T, name string) []row {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll() // also refuses lines of another length
	require.NoError(t, err)
	require.Greater(t, len(lines), 1, name)
	rows := make([]row, 0, len(lines)-1)
	seen := map[string]bool{}
	for _, line := range lines[1:] {
		key := strings.Join(line, "\x00")
		assert.Falsef(t, seen[key], "%s: %q twice", name, line)
		seen[key] = true
		r := row{}
		for i, column := range lines[0] {
			assert.Equalf(t, strings.TrimSpace(line[i]), line[i], "%s: white space around", name)
			r[column] = line[i]
		}
		rows = append(rows, r)
	}
	return rows
}

// column gathers the values of a column, each of which must be there once.
func column(t *testing.T, rows []row, name string) map[string]row {
	t.Helper()
	values := map[string]row{}
	for _, r := range rows {
		assert.NotEmptyf(t, r[name], "%s of %v", name, r)
		assert.NotContainsf(t, values, r[name], "%s twice", name)
		values[r[name]] = r
	}
	return values
}

var model = sync.OnceValues(func() (*mapping.Model, error) { return mapping.LoadModel("") })

// creates takes every row as a new record of a resource: columns that are
// fields of it, and what else such a record needs.
func creates(t *testing.T, rows []row, resourceName string, rest map[string]string) {
	t.Helper()
	m, err := model()
	require.NoError(t, err)
	resource := m.Resource(resourceName)
	for _, r := range rows {
		all := row{}
		for _, from := range []map[string]string{rest, r} {
			for name, v := range from {
				if f := resource.Field(name); f != nil && !f.Primary && v != "" {
					all[name] = v
				}
			}
		}
		body := []byte{'{'}
		for name, v := range all {
			body = append(mapping.AppendJSONString(body, name), ':')
			if kind := resource.Field(name).Type; kind == mapping.Int4 || kind == mapping.Float8 {
				body = append(body, v...)
			} else {
				body = mapping.AppendJSONString(body, v)
			}
			body = append(body, ',')
		}
		body[len(body)-1] = '}'
		b, err := mapping.DecodeBody(resource, body, time.UTC)
		require.NoErrorf(t, err, "%s", body)
		assert.Emptyf(t, b.CheckCreate(), "%s %s", resourceName, body)
	}
}

// TestCountries counts the countries of ISO 3166-1 and the member states of the
// European Union.
func TestCountries(t *testing.T) {
	rows := read(t, "countries.csv")
	assert.Len(t, rows, 249)
	column(t, rows, "id")
	column(t, rows, "name")
	codes := column(t, rows, "code")
	creates(t, rows, "country", nil)

	member := 0
	prefix := regexp.MustCompile(`^\+[1-9][0-9]{0,3}$`)
	for _, r := range rows {
		id, err := strconv.Atoi(r["id"])
		assert.NoError(t, err)
		assert.Truef(t, id > 0 && id < 1000, "%s: the numeric code has three digits", r["code"])
		assert.Regexp(t, `^[A-Z]{2}$`, r["code"])
		assert.Regexp(t, prefix, r["phone_prefix"])
		if r["is_eu"] == "1" {
			member++
		}
		p := r["postcode_pattern"]
		_, err = regexp.Compile(p)
		assert.NoError(t, err)
		assert.Truef(t, p == "" || strings.HasPrefix(p, "^") && strings.HasSuffix(p, "$"), "%s: %s is not anchored", r["code"], p)
	}
	assert.Equal(t, 27, member)
	for code, want := range map[string]row{
		"NL": {"id": "528", "name": "Netherlands", "phone_prefix": "+31", "is_eu": "1"},
		"BE": {"id": "56", "name": "Belgium", "phone_prefix": "+32", "is_eu": "1"},
		"US": {"id": "840", "name": "United States", "phone_prefix": "+1", "is_eu": "0"},
		"GB": {"id": "826", "name": "United Kingdom", "phone_prefix": "+44", "is_eu": "0"},
	} {
		for name, v := range want {
			assert.Equalf(t, v, codes[code][name], "%s of %s", name, code)
		}
	}
}

func TestPostcodePatterns(t *testing.T) {
	tests := []struct{ code, valid, invalid string }{ // separated by commas
		{"NL", "3811 MH", "3811MH,381 MH,3811 M1"}, {"BE", "1000,9999", "0999,100,10000"}, {"DE", "01067,80331", "8033,D-80331"},
		{"FR", "75001", "7501,F-75001"}, {"GB", "EC1A 1BB,M1 1AE,CR2 6XH,DN55 1PT,GIR 0AA,SW1A2AA", "EC1A,1AA 1AA,EC1AA 1BB"},
		{"LU", "1234,L-1234", "0123,12345"}, {"US", "10001,10001-1234", "1000,10001-12"}, {"CA", "K1A 0B1,M5V3L9", "D1A 0B1,K1A 0O1"},
		{"AT", "1010", "0101"}, {"CH", "8001", "801"}, {"ES", "28001,52001", "53001,00001"}, {"IT", "00118", "118"}, {"PT", "1000-001", "1000,1000001"},
		{"PL", "00-001", "00001"}, {"DK", "0800,2100", "210"}, {"SE", "114 55,11455", "1145"}, {"NO", "0150", "150"}, {"FI", "00100", "100"},
		{"IE", "D02 AF30,D6W XK26,A65F4E2", "D2 AF30,B02 AF30"}, {"IM", "IM1 1AA,IM99 1AA", "IM 1AA"}, {"LI", "9485,9498", "9484,9499"},
	}
	codes := column(t, read(t, "countries.csv"), "code")
	for _, tt := range tests {
		p := regexp.MustCompile(codes[tt.code]["postcode_pattern"])
		require.NotEmpty(t, p.String(), tt.code)
		for s := range strings.SplitSeq(tt.valid, ",") {
			assert.Truef(t, p.MatchString(s), "%s: %q is valid", tt.code, s)
		}
		for s := range strings.SplitSeq(tt.invalid, ",") {
			assert.Falsef(t, p.MatchString(s), "%s: %q is invalid", tt.code, s)
		}
	}
}

func TestAddresses(t *testing.T) {
	rows := read(t, "addresses.csv")
	assert.Greater(t, len(rows), 59)
	column(t, rows, "postcode")
	for _, r := range rows {
		assert.Truef(t, mapping.DutchPostcode(r["postcode"]), "%v", r)
		from, err := strconv.Atoi(r["from"])
		require.NoError(t, err)
		to, err := strconv.Atoi(r["to"])
		require.NoError(t, err)
		assert.Truef(t, 0 < from && from < to, "%v", r)
		switch r["parity"] {
		case "odd":
			assert.Truef(t, from%2 == 1 && to%2 == 1, "%v", r)
		case "even":
			assert.Truef(t, from%2 == 0 && to%2 == 0, "%v", r)
		default:
			assert.Equalf(t, "all", r["parity"], "%v", r)
		}
	}
	creates(t, rows, "contactaddress", map[string]string{"contact_id": "1", "type": "visit", "house_number": "1", "country_id": "528"})
}

func TestAdvertisementSites(t *testing.T) {
	sites := read(t, "advertisementsites.csv")
	column(t, sites, "id")
	column(t, sites, "code")
	creates(t, sites, "advertisementsite", nil)
}

// TestNoOtherFiles keeps this list of tests complete.
func TestNoOtherFiles(t *testing.T) {
	files, err := filepath.Glob("*.csv")
	require.NoError(t, err)
	assert.Equal(t, []string{"addresses.csv", "advertisementsites.csv", "countries.csv"}, files)
}
