package adopt

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/docs"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(legacytest.Run(m)) }

func briefOf(t *testing.T, o Options) (text string, draft *Draft) {
	t.Helper()
	draft = drafted(t, o)
	text = must.Have(draft.Brief())(t)
	return text, draft
}

// dealerpaks are databases with DEALERPAK, by engine.
func dealerpaks(t *testing.T) map[string]struct{ driver, dsn string } {
	return map[string]struct{ driver, dsn string }{
		"sqlite": {"sqlite", legacytest.SQLite(t)}, "postgres": {"pgx", legacytest.Postgres(t)}, "mariadb": {"mysql", legacytest.MariaDB(t)},
	}
}

// TestBriefOfTables: all that somebody needs who has nothing else is in it.
func TestBriefOfTables(t *testing.T) {
	for engine, at := range dealerpaks(t) {
		t.Run(engine, func(t *testing.T) {
			text, draft := briefOf(t, Options{Source: sheet.SQL{Engine: engine, DSN: config.Secret(at.dsn)}})
			for _, want := range []string{
				draft.Text, docs.Sheet, "frontdesk-kit map check --sheet sheet.yaml --json\n", "\n### REL\n\n200 rows; primary key BEDRNR, RELNR", "\n### GEBRUIKER\n\n20 rows; ",
				"- line ", ": who may log in? In the table of users", "`one_owner`, by role, vehicle_id: ", "refers to contact", "one of concept, open, in_progress, ready, invoiced, cancelled",
			} {
				require.Contains(t, text, want)
			}
			require.Regexp(t, `\| PCODE \| char(acter)?\(\d+\).* \| \d+ \| \d+ values \| '9999 XX' `, text)
			require.NotContains(t, text, at.dsn)
			require.NotContains(t, text, "<no value>")
			require.Regexp(t, `  # table: GEBRUIKER # \d+ of 20 values of WW are hashes of passwords\n  # columns: {username: TODO, password: WW, email: EMAIL, client_id: TODO}\n  # hash: \[bcrypt\] # TODO and of which form are the others\?`, text)
		})
	}
}

// TestBriefShowsNobody: no text of a row is in a brief that is not in the one of the same tables
// without rows, by all texts of DEALERPAK with a letter in them.
func TestBriefShowsNobody(t *testing.T) {
	for engine, at := range dealerpaks(t) {
		t.Run(engine, func(t *testing.T) {
			o := Options{Source: sheet.SQL{Engine: engine, DSN: config.Secret(at.dsn)}}
			full, draft := briefOf(t, o)
			db := must.Have(sql.Open(at.driver, at.dsn))(t)
			defer db.Close()
			values := map[string]bool{}
			for _, table := range draft.tables {
				textsIn(t, db, table, map[bool]string{true: "`", false: `"`}[engine == "mariadb"], values)
			}
			for _, table := range draft.tables {
				for _, column := range table.columns {
					delete(values, column.name)
				}
			}
			require.Greater(t, len(values), 1000)
			words := map[string]bool{}
			for _, word := range strings.FieldsFunc(full[strings.Index(full, "## The system"):strings.Index(full, "## The model")], func(r rune) bool { return strings.ContainsRune(" |\n", r) }) {
				words[word] = true
			}
			for value := range values {
				require.False(t, words[value], "%q", value)
				if strings.Contains(value, " ") {
					require.NotContains(t, full, value)
				}
			}
		})
	}
}

// textsIn adds the values of a table that have four characters or more, and a letter that is no x.
func textsIn(t *testing.T, db *sql.DB, of *table, quote string, values map[string]bool) {
	t.Helper()
	if of.view {
		return
	}
	rows := must.Have(db.QueryContext(context.Background(), "SELECT * FROM "+quote+of.name+quote))(t)
	defer rows.Close()
	row, into := make([]sql.NullString, len(of.columns)), make([]any, len(of.columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		require.NoError(t, rows.Scan(into...))
		for _, v := range row {
			text := strings.TrimSpace(v.String)
			if len(text) >= 4 && strings.ContainsFunc(text, func(r rune) bool {
				return strings.ContainsRune("abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ", r)
			}) {
				values[text] = true
			}
		}
	}
	require.NoError(t, rows.Err())
}

// TestBriefOfDescription takes a description that others wrote: SendGrid's, with 201 paths, and that of
// Presalytics.
func TestBriefOfDescription(t *testing.T) {
	out := must.Have(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/getkin/kin-openapi").Output())(t)
	for file, want := range map[string][]string{
		"oai_v3_stoplight.json": {"\n  /asm/groups/{group_id}/suppressions:\n", "headers: {Authorization: \"{secret.token}\"}"},
		"issue796.yml":          {"\n  /Documents:\n", "\n    Document.Details:\n"},
	} {
		description := must.Have(os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "openapi3", "testdata", file)))(t)
		text, draft := briefOf(t, Options{OpenAPI: description})
		for _, want := range append(want, draft.Text, docs.Sheet, "--json --client 1:NAME --other 2:NAME\n", "`SERVICE_URL` is where the service is.") {
			require.Contains(t, text, want)
		}
		require.NotRegexp(t, `\n +(example|examples|x-[a-z-]+):`, text)
	}
}

// TestShape shows no letter or digit of a value.
func TestShape(t *testing.T) {
	for value, shape := range map[string]string{"": "", "AB-120-c": "XX-990-x", "Zoë é": "Xxx x", "a@b.nl": "x@x.xx", strings.Repeat("x", 21): strings.Repeat("x", 20) + "…", "a\nb": "x x"} {
		require.Equal(t, shape, Shape(value))
	}
}

// TestBriefOfOddTables: names that all tables begin with are passed over, times of day are counted, and
// a table without transactions is told.
func TestBriefOfOddTables(t *testing.T) {
	dsn := legacytest.EmptyMariaDB(t, "utf8mb4")
	db := must.Have(sql.Open("mysql", dsn))(t)
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE ip_contacts (id int PRIMARY KEY AUTO_INCREMENT, name varchar(50) NOT NULL, opened time NOT NULL) ENGINE=MyISAM",
		"CREATE TABLE ip_options (id int PRIMARY KEY, value json)",
		"INSERT INTO ip_contacts (name, opened) VALUES ('Jansen', '10:11:12'), ('De Wit', '10:11:12')",
	} {
		must.Have(db.ExecContext(t.Context(), statement))(t)
	}
	text, draft := briefOf(t, Options{Source: sheet.SQL{Engine: "mariadb", DSN: config.Secret(dsn)}})
	require.Contains(t, draft.Text, "\n  contact:\n    table: ip_contacts\n")
	require.Contains(t, text, "\n### ip_contacts\n\n2 rows; **MyISAM, which has no transactions**: only read it, or make it InnoDB; primary key id")
	require.Contains(t, text, "| opened | time not null | 2 | 1 value | '90:99:99' |")
	require.Contains(t, text, "| duplicate_value | ")
}
