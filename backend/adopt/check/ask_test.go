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

// TestOutsideTheModel: what rows have that the interface does not know is counted by field;
// a mended view, mended rows and another column are right.
func TestOutsideTheModel(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	run := func(statements ...string) { execute(t, db, statements...) }
	run("CREATE TABLE w_contact (id int PRIMARY KEY, adm int NOT NULL, name varchar(100) NOT NULL, klant tinyint NOT NULL, born datetime, changed datetime NOT NULL, KEY (adm, id))",
		"CREATE TABLE w_article (id int PRIMARY KEY, adm int NOT NULL, nr varchar(40) NOT NULL, supplier int, price double NOT NULL, KEY (adm, id))",
		"CREATE TABLE w_two (n int)", "INSERT INTO w_two VALUES (1), (2)",
		"CREATE VIEW w_contacts AS SELECT c.* FROM w_contact c JOIN w_two ON c.id > 1 OR n = 1",
		"INSERT INTO w_contact VALUES (1, 1, 'A', 2, '1984-03-13 23:00:00', '2036-01-01 00:00:00'), (2, 1, 'B', 1, '1990-07-01 22:00:00', '2020-01-01 00:00:00'), (3, 1, 'C', 0, '1991-01-01 23:00:00', '2020-01-01 00:00:00')",
		"INSERT INTO w_article VALUES (1, 1, 'N1', 77, 12.75123), (2, 1, 'N2', 78, 0.5), (3, 1, 'N3', 3, 3)")
	path := sheetFile(t, "outside")
	report := askedOf(t, path, dsn)
	for says, seen := range map[string]string{
		"error ask.twice resources.contact":                           "2 of 5 record(s) of the list came before with the same ID",
		"warning data.unlisted resources.contact.fields.is_customer":  "1 of 5 record(s) have another is_customer than the interface knows (0|1)",
		"warning data.future resources.contact.fields.modified_at":    "1 of 5 record(s) have a modified_at that is still to come",
		"warning data.day-off resources.contact.fields.birth_date":    "5 of 5 record(s) have a birth_date an hour or two beside midnight in Europe/Amsterdam, as all that have one: days of another zone",
		"warning data.reference resources.article.fields.supplier_id": "2 of 3 record(s) have a supplier_id that leads to no record which their client sees",
		"warning data.scale resources.article.fields.price":           "1 of 3 record(s) have a price with more decimals than are shown",
	} {
		require.Equal(t, seen, told(t, report, says, "").Seen)
	}
	run("UPDATE w_contact SET klant = 1, born = '1984-03-14', changed = '2020-01-01'", "DROP VIEW w_contacts", "CREATE VIEW w_contacts AS SELECT * FROM w_contact", "UPDATE w_article SET supplier = id, price = 3")
	report = askedOf(t, path, dsn)
	for _, rule := range []string{"ask.", "data.unlisted", "data.future", "data.day-off", "data.reference", "data.scale"} {
		require.NotContains(t, words(t, report), rule)
	}
	run("UPDATE w_article SET supplier = id + 90")
	told(t, askedOf(t, path, dsn), "error data.reference resources.article.fields.supplier_id", "") // the column is of something else
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
