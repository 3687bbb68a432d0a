package check

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/mapping"
)

// TestAsked: what is right answers every question rightly.
func TestAsked(t *testing.T) {
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			report := askedOf(t, finished(t, engine), start(t))
			require.Zero(t, report.Count(Error), words(t, report))
			require.NotContains(t, words(t, report), "ask.isolation", "countries are meant for all")
		})
	}
}

// TestForeignAsked is TestAsked of three administrations that nobody here wrote. It takes long:
// they are begun and asked some thousand questions.
func TestForeignAsked(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *foreigntest.System{"tryton": foreigntest.Tryton, "sqlledger": foreigntest.SQLLedger, "kraft": foreigntest.Kraft} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			report := askedOf(t, s.Sheet, s.DSN)
			require.Zero(t, report.Count(Error), words(t, report))
		})
	}
}

// heedless is a database that finds nothing by some of what it is asked for.
type heedless struct {
	Database
	lost func(backend.Query) bool
}

func (h heedless) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if h.lost(q) {
		return backend.Page{}, nil
	}
	return h.Database.List(ctx, r, q)
}

// TestHeedless has each question answered wrongly.
func TestHeedless(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	for rule, test := range map[string]struct {
		path string
		lost func(backend.Query) bool
	}{
		"ask.sort":   {"resources.contact.fields.payment_days", func(q backend.Query) bool { return len(q.Sort) > 0 }},
		"ask.filter": {"resources.contact.fields.name", func(q backend.Query) bool { return len(q.Filters) > 0 && q.Filters[0].Op == mapping.Contains }},
		"ask.since":  {"resources.contact.fields.modified_at", func(q backend.Query) bool { return q.ModifiedSince.IsSet() }},
	} {
		t.Run(rule, func(t *testing.T) {
			report := reported(t, loaded(t, finished(t, "mariadb"), dsn).through(func(d Database) Database { return heedless{d, test.lost} }))
			require.NotEmpty(t, report.has(rule, test.path), words(t, report))
		})
	}
}
