package legacy

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// openForeign puts the driver before a system that nobody here wrote.
func openForeign(t *testing.T, s *foreigntest.System) *fixture {
	t.Helper()
	of := load(t, s.Sheet, s.DSN)
	x := &fixture{t: t, engine: of.Source.SQL.Engine, dsn: s.DSN, model: of.Model}
	var err error
	x.Store, err = Open(t.Context(), Options{Sheet: of, IDStore: openIDStore(t, time.Now), Now: time.Now, Hasher: auth.NewHasher()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	x.Single = drivertest.Single{Driver: x.Store}
	x.front, err = backend.NewClient(x.Store, of.Model, backend.Options{Timeout: time.Hour})
	require.NoError(t, err)
	return x
}

// byNumber is the order of keys that are numbers.
func byNumber(_ string, a, b drivertest.Key) int {
	x, _ := strconv.Atoi(string(a))
	y, _ := strconv.Atoi(string(b))
	return cmp.Compare(x, y)
}

// drafts are what testdata/foreign.yaml has of a system.
type drafts struct {
	Zone   string
	Draw   map[string]map[string]any // by resource
	Meddle []map[string]any

	zone    *time.Location
	made    int // numbers that were drawn
	ordered int // the day that was drawn last
}

func draftsOf(t *testing.T, system string) *drafts {
	t.Helper()
	text, err := os.ReadFile("testdata/foreign.yaml")
	require.NoError(t, err)
	all := map[string]*drafts{}
	require.NoError(t, yaml.UnmarshalWithOptions(text, &all, yaml.Strict()))
	d := all[system]
	d.zone, err = time.LoadLocation(d.Zone)
	require.NoError(t, err)
	return d
}

// drawn is what is drawn for a value. pick draws a record of a resource.
func (d *drafts) drawn(t *rapid.T, name string, value any, pick func(resource string) any) any {
	switch v := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(v))) { // an order_date comes before its delivery_date
			all[name] = d.drawn(t, name, v[name], pick)
		}
		return all
	case []any:
		all, rows := make([]any, len(v)), make([][]any, 0, len(v))
		for i := range v {
			all[i] = d.drawn(t, name, v[i], pick)
			if row, is := all[i].([]any); is {
				rows = append(rows, row)
			}
		}
		if len(rows) > 0 {
			return rows
		}
		return all
	case string:
		if kind, is := strings.CutPrefix(v, "$"); is {
			return d.kind(t, name, kind, pick)
		}
	}
	return value
}

func (d *drafts) day(n int) string {
	return time.Date(2026, 3, 20+n, 0, 0, 0, 0, d.zone).Format(time.RFC3339)
}

var shortTexts = rapid.OneOf(rapid.SampledFrom(drivertest.Texts[2:]), rapid.StringMatching(`[A-Za-z']{1,8}`))

// kind draws a value of a kind.
func (d *drafts) kind(t *rapid.T, name, kind string, pick func(resource string) any) any {
	if of, is := strings.CutSuffix(kind, "?"); is {
		if kind = of; rapid.IntRange(0, 2).Draw(t, name+" is null") == 0 {
			return nil
		}
	}
	least, most, isRange := strings.Cut(kind, "..")
	switch {
	case kind == "short":
		return shortTexts.Draw(t, name)
	case kind == "decimal":
		return strconv.FormatFloat(float64(rapid.IntRange(-99999, 999999).Draw(t, name))/10000, 'f', 4, 64)
	case kind == "cents":
		return strconv.FormatFloat(float64(rapid.IntRange(-999, 99999).Draw(t, name))/100, 'f', 2, 64)
	case kind == "day": // as clients see it: midnight, in the time zone of the sheet
		d.ordered = rapid.IntRange(0, 12).Draw(t, name)
		return d.day(d.ordered)
	case kind == "later":
		return d.day(d.ordered + rapid.IntRange(1, 5).Draw(t, name))
	case kind == "n":
		d.made++
		return "m" + strconv.Itoa(d.made)
	case kind[0] == '@':
		return pick(kind[1:])
	case kind[0] == '/':
		return rapid.StringMatching(strings.Trim(kind, "/")).Draw(t, name)
	case isRange:
		from, _ := strconv.Atoi(least)
		to, _ := strconv.Atoi(most)
		return rapid.IntRange(from, to).Draw(t, name)
	default:
		return rapid.SampledFrom(strings.Split(kind, "|")).Draw(t, name)
	}
}

// meddle has one of a system's own users do something.
func (d *drafts) meddle(s *foreigntest.System) func(t *rapid.T) {
	return func(t *rapid.T) {
		pick := func(resource string) any {
			rows, err := s.Rows(t.Context(), resource)
			require.NoError(t, err)
			id, err := strconv.Atoi(string(rapid.SampledFrom(rows).Draw(t, resource).Key))
			require.NoError(t, err)
			return id
		}
		does := maps.Clone(rapid.SampledFrom(d.Meddle).Draw(t, "meddling"))
		what := does["do"].(string)
		if rows, err := s.Rows(t.Context(), "order"); what == "document" && len(rows) > 120 {
			require.NoError(t, err) // a walk that goes on for long is to try much, and not to read much
			what, does = "throw away", map[string]any{"document": "$@order"}
		}
		delete(does, "do")
		s.Do(t, what, d.drawn(t, what, does, pick).(map[string]any))
	}
}

// foreigners are the systems that are walked: their resources, and what they may refuse clients.
var foreigners = map[string]struct {
	start     func(testing.TB) *foreigntest.System
	resources string
	refusals  []mapping.Reason
}{
	"tryton": {foreigntest.Tryton, "country contact contactaddress contactcommunication article employee order orderline",
		[]mapping.Reason{mapping.InUse, mapping.RelatedIDNotFound, mapping.DateNotAfter, mapping.FieldRequired, mapping.StatusForbidsChange, mapping.ValidationFailed}},
	"sqlledger": {foreigntest.SQLLedger, "turnovergroup contact contactaddress employee article order orderline",
		[]mapping.Reason{mapping.InUse, mapping.RelatedIDNotFound, mapping.DateNotAfter, mapping.FieldRequired, mapping.DuplicateValue, mapping.StatusForbidsChange}},
	"kraft": {foreigntest.Kraft, "turnovergroup article order orderline",
		[]mapping.Reason{mapping.InUse, mapping.RelatedIDNotFound, mapping.FieldRequired, mapping.StatusForbidsChange}},
}

// walkForeign walks a system while somebody works in it: once, and in the soak three rounds in each of ten
// that nobody has touched yet. In one and the same the records would become ever more.
func walkForeign(t *testing.T, name string, after func(t *testing.T, s *foreigntest.System)) {
	walk := func(t *testing.T, rounds int) {
		of, d := foreigners[name], draftsOf(t, name)
		s := of.start(t)
		c, clients := openForeign(t, s).front, []auth.Client{one, two}
		(&drivertest.Walk{
			Client: c, Oracle: s, Clients: clients, Resources: strings.Fields(of.resources), ByKey: byNumber, Weigh: s.Weigh, Rounds: rounds, Refusals: of.refusals, Meddle: d.meddle(s),
			Draw: func(t *rapid.T, resource string, pick func(resource string) drivertest.Key) map[string]any {
				return d.drawn(t, resource, d.Draw[resource], func(resource string) any { return pick(resource) }).(map[string]any)
			},
		}).Run(t)
		drivertest.Injection{Client: c, Clients: clients, Oracle: s, Weigh: s.Weigh}.Run(t)
		after(t, s)
	}
	if !sqltest.Soak() {
		walk(t, 1)
		return
	}
	for n := range 10 {
		t.Run(strconv.Itoa(n), func(t *testing.T) { walk(t, 3) })
	}
}

func TestForeignSQLLedger(t *testing.T) {
	walkForeign(t, "sqlledger", func(*testing.T, *foreigntest.System) {})
}

func TestForeignKraft(t *testing.T) {
	walkForeign(t, "kraft", func(*testing.T, *foreigntest.System) {})
}

// TestForeignTryton: afterwards it has to make something of all that was written.
func TestForeignTryton(t *testing.T) {
	walkForeign(t, "tryton", func(t *testing.T, s *foreigntest.System) {
		for resource, model := range map[string]string{
			"contact": "party.party", "contactaddress": "party.address", "contactcommunication": "party.contact_mechanism", "order": "sale.sale", "orderline": "sale.line",
		} {
			rows, err := s.Rows(t.Context(), resource)
			require.NoError(t, err)
			domain := [][]any{}
			if resource == "orderline" {
				domain = append(domain, []any{"type", "=", "line"})
			}
			var read [][]any
			s.Ask(t, "read", map[string]any{"model": model, "fields": []string{"rec_name"}, "domain": domain}, &read)
			require.Len(t, read, len(rows), "what Tryton itself makes of its %s", resource)
		}
	})
}
