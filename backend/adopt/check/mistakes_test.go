package check

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/legacytest"
	services "frontdesk/backend/remote/foreigntest"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// mistake is one that was made with a foreign system when sheets were tried, and what tells of
// it now: a rule of the check, or the sheet itself, which then does not load (rule sheet).
type mistake struct {
	name          string
	replace       []string // in the right sheet
	spoil, mend   []string // statements, where the mistake is in the rows
	severity      Severity
	rule, path    string
	seen, whether string // what is said, and what is to be done
}

// office has the tables of a Dolibarr that its sheets were tried with, of two companies.
var office = []string{
	"CREATE TABLE llx_user (rowid int PRIMARY KEY AUTO_INCREMENT, entity int NOT NULL, login varchar(50) NOT NULL, lastname varchar(50) NOT NULL, job varchar(50), pass varchar(128), pass_crypted varchar(128), email varchar(254), UNIQUE (login, entity), KEY (entity, rowid))",
	"CREATE TABLE llx_adherent (rowid int PRIMARY KEY AUTO_INCREMENT, entity int NOT NULL, login varchar(50) NOT NULL, pass varchar(128), email varchar(254))",
	"CREATE TABLE llx_societe (rowid int PRIMARY KEY AUTO_INCREMENT, entity int NOT NULL, nom varchar(100) NOT NULL, zip varchar(20) NOT NULL, client tinyint NOT NULL DEFAULT 0, fournisseur tinyint NOT NULL DEFAULT 0, cond int, cond_small smallint, cond_big bigint, born datetime, tms timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, KEY (entity, rowid))",
	"CREATE TABLE llx_fourn (rowid int PRIMARY KEY, nom varchar(100))",
	"CREATE TABLE llx_group (rowid int unsigned PRIMARY KEY AUTO_INCREMENT, code varchar(10) NOT NULL, label varchar(60) NOT NULL, UNIQUE (code))",
	"CREATE TABLE llx_product (rowid int PRIMARY KEY AUTO_INCREMENT, entity int NOT NULL, ref varchar(40) NOT NULL, label varchar(255) NOT NULL, price double NOT NULL, stock double NOT NULL DEFAULT 0, fk_group int unsigned NOT NULL, fk_fourn int, UNIQUE (entity, ref), KEY (entity, rowid), FOREIGN KEY (fk_group) REFERENCES llx_group (rowid))",
	"CREATE TABLE llx_commande (rowid int PRIMARY KEY AUTO_INCREMENT, entity int NOT NULL, fk_soc int NOT NULL, fk_statut smallint NOT NULL DEFAULT 0, date_commande date NOT NULL, tms timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, KEY (entity, rowid), FOREIGN KEY (fk_soc) REFERENCES llx_societe (rowid))",
	"CREATE TABLE llx_commandedet (rowid int PRIMARY KEY AUTO_INCREMENT, fk_commande int NOT NULL, fk_product int, label varchar(255) NOT NULL, qty double NOT NULL, subprice double NOT NULL, remise double, FOREIGN KEY (fk_commande) REFERENCES llx_commande (rowid), FOREIGN KEY (fk_product) REFERENCES llx_product (rowid))",
	"CREATE VIEW v_commandedet AS SELECT d.*, c.entity FROM llx_commandedet d JOIN llx_commande c ON c.rowid = d.fk_commande",
	"INSERT INTO llx_societe (entity, nom, zip, client, cond, cond_small, cond_big, born) VALUES (1, 'Fietsenmaker Jansen', '3811 XQ', 1, 14, 14, 14, '1984-03-14 00:00:00'), (1, 'De Wit', '3811 XQ', 3, 30, 30, 3000000000, '1990-07-01 00:00:00'), (1, 'O''Neil', '1000', 2, NULL, NULL, NULL, '1991-01-01 00:00:00'), (2, 'Zuid Bakker', '4000', 1, 7, 7, 7, NULL)",
	"INSERT INTO llx_fourn VALUES (901, 'Groothandel'), (902, 'Import')",
	"INSERT INTO llx_group (rowid, code, label) VALUES (100, 'A', 'group A'), (101, 'B', 'group B')",
	"INSERT INTO llx_product (entity, ref, label, price, stock, fk_group, fk_fourn) VALUES (1, 'P1', 'Zadel', 12.75, 0.5, 100, 901), (1, 'P2', 'Bel', 0.5, 3, 101, 902), (2, 'P1', 'Stuur', 3, 1, 100, 901)",
	"INSERT INTO llx_commande (entity, fk_soc, fk_statut, date_commande) VALUES (1, 1, 0, '2026-11-22'), (1, 2, 1, '2026-11-23'), (2, 4, 3, '2026-11-24')",
	"INSERT INTO llx_commandedet (fk_commande, fk_product, label, qty, subprice, remise) VALUES (1, 1, 'Zadel', 0.5, 12.75, 15), (1, 2, 'Bel', 2, 0.5, 2.5), (3, 3, 'Stuur', 1, 3, NULL)",
}

const officeSheet = `
format: 2
source: {sql: {engine: mariadb, dsn: "${DSN}", session: ["SET time_zone = '+00:00'"]}}
time_zone: Europe/Amsterdam
keep: keep.db
client: entity
rules: backend
accounts:
  table: llx_user
  columns: {id: rowid, username: login, password: pass_crypted, email: email, client_id: entity, client_name: login}
  hash: [bcrypt]
resources:
  contact:
    table: llx_societe
    key: {columns: rowid, generated: identity}
    constants: {zip: "''"}
    fields:
      kind: {constant: person}
      name: nom
      is_customer: {read: "CASE WHEN client IN (1, 3) THEN 1 ELSE 0 END", write: {client: "CASE :value WHEN 1 THEN 1 ELSE 0 END + CASE WHEN client >= 2 THEN 2 ELSE 0 END"}}
      is_supplier: {column: fournisseur, write: {fournisseur: "COALESCE(:value, 0)"}}
      payment_days: cond
      birth_date: {column: born, type: date}
      modified_at: {column: tms, time_zone: UTC, readonly: true}
  turnovergroup:
    table: llx_group
    key: {columns: rowid, generated: identity}
    client: ""
    shared: true
    fields: {code: code, description: label, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
  employee:
    table: llx_user
    key: {columns: rowid, generated: identity}
    operations: {only: [get, list]}
    fields: {username: login, last_name: lastname, email: email}
  article:
    table: llx_product
    key: {columns: rowid, generated: identity}
    fields:
      number: ref
      description: label
      article_kind: {constant: part}
      unit_type: {constant: piece}
      turnover_group_id: fk_group
      price: {column: price, write: {price: "ROUND(:value, 4)"}}
  order:
    table: llx_commande
    key: {columns: rowid, generated: identity}
    fields:
      contact_id: fk_soc
      kind: {constant: sales}
      order_status: {column: fk_statut, codes: {0: concept, 1: open, 3: invoiced}}
      order_date: {column: date_commande, type: date}
      orderlines: {}
      modified_at: {column: tms, time_zone: UTC, readonly: true}
  orderline:
    table: llx_commandedet
    key: {columns: rowid, generated: identity}
    client: {through: order_id}
    fields:
      order_id: fk_commande
      article_id: fk_product
      description: label
      quantity: qty
      price: subprice
      discount_percentage: remise
      turnover_group_id: {absent: true}
`

// ofSQL are the mistakes that a database was tried with, by the numbers of what was found:
// foreign-sql N, foreign-http N where a service was tried with the same.
var ofSQL = []mistake{
	{name: "sql 2: lines without a client", replace: []string{"client: {through: order_id}", `client: ""`},
		rule: "sheet", path: "resources.orderline.client", seen: "orderline has no client, but order_id refers to order", whether: "expected client: {through: order_id}"},
	{name: "sql 3: a client in the view alone", replace: []string{"    client: {through: order_id}", "    read: v_commandedet"},
		severity: Error, rule: "ask.start", path: "resources", seen: "every write names entity, and llx_commandedet has no such column", whether: "mend it"},
	{name: "sql 4: a write that loses", replace: []string{" + CASE WHEN client >= 2 THEN 2 ELSE 0 END", ""},
		severity: Warning, rule: "data.altered", path: "resources.contact.fields.is_customer", seen: "2 of 4 record(s) would not be as they are", whether: "the reverse of read"},
	{name: "sql 5a: days of another zone", replace: []string{"time_zone: Europe/Amsterdam", "time_zone: UTC"},
		rule: "sheet", path: "resources.order.fields.order_date", seen: "found days of UTC", whether: "expected time_zone: Europe/Amsterdam"},
	{name: "sql 5b: a session of another zone", replace: []string{"payment_days: cond\n      birth_date: {column: born, type: date}\n      modified_at: {column: tms, time_zone: UTC", "payment_days: cond\n      birth_date: {column: born, type: date}\n      modified_at: {column: tms"},
		severity: Error, rule: "sql.zone", path: "resources.contact.fields.modified_at", seen: "llx_societe.tms is shown in the zone of the session", whether: "say time_zone: UTC"},
	{name: "sql 6a: a key that nothing gives", replace: []string{"table: llx_product\n    key: {columns: rowid, generated: identity}", "table: llx_product\n    key: {columns: ref, id: kept, generated: supplied}", "number: ref", "number: {column: ref, readonly: true}"},
		rule: "sheet", path: "resources.article.key", seen: "nothing gives ref of a new article", whether: "expected a field that clients must send"},
	{name: "sql 6b: a flag that is 2", spoil: []string{"UPDATE llx_societe SET fournisseur = 2 WHERE rowid = 1"}, mend: []string{"UPDATE llx_societe SET fournisseur = 0"},
		severity: Warning, rule: "data.unlisted", path: "resources.contact.fields.is_supplier", seen: "1 of 3 record(s) have another is_supplier than the interface knows (0|1)", whether: "codes"},
	{name: "sql 6c: a reference to another table", replace: []string{"turnover_group_id: fk_group", "turnover_group_id: fk_group\n      supplier_id: fk_fourn"},
		severity: Error, rule: "data.reference", path: "resources.article.fields.supplier_id", seen: "3 of 3 record(s) have a supplier_id that leads to no record", whether: "name the place"},
	{name: "a column of larger integers", replace: []string{"payment_days: cond", "payment_days: cond_big"},
		severity: Error, rule: "data.unfit", path: "resources.contact.fields.payment_days", seen: "1 of 4 record(s) have a payment_days that the interface cannot show", whether: "mend read"},
	{name: "sql 6e: foreign keys of other tables", spoil: []string{"CREATE TABLE llx_socpeople (rowid int PRIMARY KEY, fk_soc int, CONSTRAINT fk_people FOREIGN KEY (fk_soc) REFERENCES llx_societe (rowid))"}, mend: []string{"DROP TABLE llx_socpeople"},
		severity: Warning, rule: "sql.in-use", path: "resources.contact.table", seen: "fk_people of llx_socpeople refers to llx_societe", whether: "say under errors"},
	{name: "sql 6g: one login of two users", spoil: []string{"INSERT INTO llx_user (entity, login, lastname, pass_crypted, email) SELECT 2, login, lastname, pass_crypted, email FROM llx_user WHERE login = 'anna'"}, mend: []string{"DELETE FROM llx_user WHERE login = 'anna' AND entity = 2"},
		severity: Warning, rule: "accounts.twice", path: "accounts.columns.username", seen: "1 of 3 user(s) have the login name of an earlier one", whether: "accounts.query"},
	{name: "sql 7: a table of users without rows", replace: []string{"table: llx_user\n  columns: {id: rowid, username: login, password: pass_crypted", "table: llx_adherent\n  columns: {id: rowid, username: login, password: pass"},
		severity: Warning, rule: "accounts.none", path: "accounts.table", seen: "llx_adherent has no rows: nobody can log in", whether: "name the table"},
	{name: "sql 7: a column without the hashes", replace: []string{"password: pass_crypted", "password: pass"},
		severity: Error, rule: "accounts.hash", path: "accounts.columns.password", seen: "2 of 2 user(s) have no password of a form that hash lists", whether: "name the column of the hashes"},
	{name: "sql 7: another column with a login", replace: []string{"password: pass_crypted", "password: lastname"},
		severity: Error, rule: "login.refused", path: "accounts.table", seen: "there is such a user, and what the system has of it cannot be read", whether: "hash"},
	{name: "sql 7: no codes", replace: []string{"codes: {0: concept, 1: open, 3: invoiced}", "codes: {}"},
		rule: "sheet", path: "resources.order.fields.order_status.codes", seen: "found an empty code list"},
	{name: "sql 7: no client_id", replace: []string{"client_id: entity, ", ""},
		rule: "sheet", path: "accounts.columns", seen: "client_id is missing", whether: "expected"},
	{name: "sql 7: a number that is a postcode", replace: []string{"    constants: {zip: \"''\"}\n", "", "      name: nom\n", "      name: nom\n      number: {column: zip, readonly: true}\n"},
		severity: Warning, rule: "data.duplicate", path: "resources.contact.fields.number", seen: "1 value(s) of number stand in more than one record of a client", whether: "mend the rows"},
	{name: "sql 7: an e-mail address that is none", replace: []string{"    operations: {only: [get, list]}\n", "", "fields: {username: login, last_name: lastname, email: email}", "fields: {username: login, last_name: lastname, email: job}"},
		severity: Warning, rule: "data.invalid", path: "resources.employee.fields.email", seen: "1 of 1 record(s) have in email what clients are refused", whether: "name another column"},
	{name: "sql 7: a number for a unit", replace: []string{"unit_type: {constant: piece}", "unit_type: stock"},
		severity: Warning, rule: "data.unlisted", path: "resources.article.fields.unit_type", seen: "2 of 2 record(s) have another unit_type than the interface knows", whether: "say under codes"},
	{name: "sql 7: the key for a reference", replace: []string{"turnover_group_id: fk_group", "turnover_group_id: rowid"},
		severity: Error, rule: "data.reference", path: "resources.article.fields.turnover_group_id", seen: "3 of 3 record(s) have a turnover_group_id that leads to no record", whether: "name the place"},
	{name: "sql 7: a fraction for a percentage", spoil: []string{"UPDATE llx_commandedet SET remise = remise / 100"}, mend: []string{"UPDATE llx_commandedet SET remise = remise * 100"},
		severity: Warning, rule: "data.fraction", path: "resources.orderline.fields.discount_percentage", seen: "2 of 2 record(s) have a discount_percentage below 1", whether: "multiply by 100"},
	{name: "sql 8: users without an e-mail address", spoil: []string{"UPDATE llx_user SET email = NULL WHERE login = 'bram'"}, mend: []string{"UPDATE llx_user SET email = 'b@example.nl' WHERE login = 'bram'"},
		severity: Warning, rule: "accounts.email", path: "accounts.columns.email", seen: "1 of 2 user(s) have no e-mail address", whether: "mend the rows"},
	{name: "http 5: days written in UTC", replace: []string{"birth_date: {column: born, type: date}", "birth_date: {column: born, type: datetime}"},
		spoil:    []string{"UPDATE llx_societe SET born = CASE rowid WHEN 1 THEN '1984-03-13 23:00:00' WHEN 2 THEN '1990-06-30 22:00:00' WHEN 3 THEN '1990-12-31 23:00:00' END"},
		mend:     []string{"UPDATE llx_societe SET born = DATE(DATE_ADD(born, INTERVAL 3 HOUR))"},
		severity: Warning, rule: "data.day-off", path: "resources.contact.fields.birth_date", seen: "3 of 3 record(s) have a birth_date an hour or two beside midnight in Europe/Amsterdam", whether: "time_zone"},
}

// sheetOf is a sheet with words of it replaced, judged as the gateway does that has clients'
// dates in Amsterdam; of one with problems these.
func sheetOf(t *testing.T, text, dsn string, replace ...string) (Options, strictyaml.Problems) {
	t.Helper()
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, text, replace[i])
	}
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(text)), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{
		Env:  func(string) (string, bool) { return dsn, true },
		Zone: amsterdam(t), RuleFields: func(rule string) []string { fields, _ := backend.RuleFields(rule); return fields },
	})
	problems := strictyaml.Problems(nil)
	if !errors.As(err, &problems) {
		require.NoError(t, err)
	}
	return Options{Sheet: s, Model: model}, problems
}

// isTold holds what is said to the mistake: once, at its place, with what to do.
func (m mistake) isTold(t *testing.T, problems strictyaml.Problems, report *Report) {
	t.Helper()
	if m.rule == "sheet" {
		require.NotEmpty(t, problems)
		for _, p := range problems {
			if strings.HasPrefix(p.Path, m.path) && strings.Contains(p.Message, m.seen) && strings.Contains(p.Message, m.whether) {
				require.Greater(t, p.Line, 1)
				return
			}
		}
		require.Fail(t, "not told", "%v", problems)
	}
	require.Empty(t, problems)
	found := report.has(m.rule, m.path)
	require.Len(t, found, 1, words(t, report))
	require.Equal(t, m.severity, found[0].Severity)
	require.Contains(t, found[0].Seen, m.seen)
	require.Contains(t, found[0].Remedy, m.whether)
	require.Greater(t, found[0].Line, 1)
}

// TestMistakesOfTheFindings: before, map check said 0 errors of a sheet with any of these, and
// clients lost money, days, changes or each other's records by it. Each is told of at its place
// with its cure now, the sheet without it has no errors, and nothing of a customer is said.
func TestMistakesOfTheFindings(t *testing.T) {
	t.Run("sql", mistakesOfSQL)
}

func mistakesOfSQL(t *testing.T) {
	dsn := legacytest.EmptyMariaDB(t, "utf8mb4")
	db := opened(t, dsn)
	execute(t, db, office...)
	hash, err := bcrypt.GenerateFromPassword([]byte("tafel-Berg-1"), bcrypt.MinCost)
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO llx_user (entity, login, lastname, job, pass_crypted, email) VALUES (1, 'anna', 'Visser', 'Chef', ?, 'a@example.nl'), (2, 'bram', 'Smit', 'Hulp', ?, 'b@example.nl')", hash, hash)
	require.NoError(t, err)
	check := func(t *testing.T, asks bool, replace ...string) (strictyaml.Problems, *Report) {
		o, problems := sheetOf(t, officeSheet, dsn, replace...)
		if len(problems) > 0 {
			return problems, nil
		}
		if o.Open = opener(t); asks {
			o.Login = auth.Credentials{Username: "anna", Password: "tafel-Berg-1"}
		}
		report, err := SQL(t.Context(), o)
		require.NoError(t, err)
		for _, secret := range []string{"Jansen", "De Wit", "Neil", "Bakker", "Visser", "Chef", "anna", "tafel", "3811 XQ"} {
			require.NotContains(t, words(t, report), secret, "a report is sent on")
		}
		return nil, report
	}
	right := func(t *testing.T) {
		problems, report := check(t, true)
		require.Empty(t, problems)
		require.Empty(t, report.has("sql.too-narrow", "resources.article.fields.turnover_group_id"), "nobody sends an ID below 0")
		require.Zero(t, report.Count(Error), words(t, report))
		require.Contains(t, words(t, report), "the user logs in, and works for client 1\n")
		for _, m := range ofSQL {
			if m.rule != "sheet" {
				require.Empty(t, report.has(m.rule, m.path), words(t, report))
			}
		}
	}
	right(t)
	for _, m := range ofSQL {
		t.Run(m.name, func(t *testing.T) {
			execute(t, db, m.spoil...)
			problems, report := check(t, slices.Contains([]string{"login.refused", "data.unlisted", "data.invalid", "data.day-off", "data.fraction"}, m.rule), m.replace...)
			execute(t, db, m.mend...)
			m.isTold(t, problems, report)
		})
	}
	right(t)
}

// ofHTTP are mistakes in a sheet of PocketBase.
var ofHTTP = []mistake{
	{name: "a client that no answer has", replace: []string{contactAt, contactAt + "\n    client: expand.org.nr"},
		severity: Error, rule: "http.read", path: "resources.contact", seen: "no record says its client at expand.org.nr", whether: "mend walk"},
	{name: "a body that leaves out what is sent", replace: []string{contactAt, contactAt + "\n    create: {body: '.record | del(.memo)'}"},
		rule: "sheet", path: "resources.contact.create", seen: "the body leaves out what clients may send: note", whether: "Expected .value.FIELD"},
	{name: "what the service does not keep", replace: []string{"note: {path: memo, empty: \"null\"}", "note: {path: memo, empty: \"null\"}\n      first_name: nick"},
		severity: Error, rule: "write.altered", path: "resources.contact.fields.first_name", seen: "what is read after it was written to first_name is another value for a value of another record", whether: "mark the field readonly"},
	{name: "a member that is not there", replace: []string{"note: {path: memo, empty: \"null\"}", "note: {path: memo, empty: \"null\"}\n      first_name: nick"},
		severity: Warning, rule: "http.path-missing", path: "resources.contact.fields.first_name", seen: "record(s) were looked at, and nick is in none of them", whether: "leave the field out"},
	{name: "times that are compared as texts", replace: []string{` | sub("T"; " ")`, ""},
		severity: Error, rule: "http.since", path: "resources.contact", seen: "is not among what has changed since", whether: "mend what since sends"},
	{name: "since that the service does not know", replace: []string{"query: {filter: {jq: '\"updated", "query: {changed: {jq: '\"updated"},
		severity: Warning, rule: "http.since", path: "resources.contact", seen: "that have not changed since", whether: "leave since out"},
	{name: "a key that no answer has", replace: []string{"&key {path: id", "&key {path: nummer"},
		severity: Error, rule: "http.read", path: "resources.contact", seen: "a record without its key at nummer", whether: "mend walk"},
	{name: "a total that is of the page", replace: []string{"total: totalItems", "total: perPage"},
		severity: Error, rule: "http.read", path: "resources.contact", seen: "records came, and the service counts 10, at perPage", whether: "mend walk"},
	{name: "no pages", replace: []string{"      paging: {style: page, size: 10, total: totalItems}\n", "", `page: "{page.number}", perPage: "{page.limit}"`, `perPage: "10"`},
		severity: Warning, rule: "http.paging", path: "resources.contact", seen: "10 record(s) came at once", whether: "walk.paging"},
	{name: "a code that is not listed", replace: []string{"codes: {P: person, B: company}", "codes: {P: person, X: company}"},
		severity: Error, rule: "data.unknown-code", path: "resources.contact.fields.kind", seen: "have at type what the codes of kind do not list", whether: "list it under codes"},
	{name: "a path of something else", replace: []string{"payment_days: {path: days, zero: \"0\"}", "payment_days: {path: name, readonly: true}"},
		severity: Error, rule: "data.unfit", path: "resources.contact.fields.payment_days", seen: "have a payment_days that the interface cannot show", whether: "mend read"},
	{name: "a reference by something else", replace: []string{"turnover_group_id: grp", "turnover_group_id: shelf"},
		severity: Error, rule: "data.reference", path: "resources.article.fields.turnover_group_id", seen: "have a turnover_group_id that leads to no record", whether: "name the place of the turnovergroup"},
	{name: "an answer to a log-in that has the user elsewhere", replace: []string{"password}\", result: record}", "password}\"}"},
		severity: Error, rule: "login.fails", path: "accounts.verify", seen: "a log-in fails", whether: "nobody can log in"},
	{name: "wrong credentials that are not known for such", replace: []string{"  refused: {status: \"400\"}\n", ""},
		severity: Error, rule: "login.unrefused", path: "accounts.verify", seen: "a wrong password is not refused, but fails: the service answered 400", whether: "refused"},
	{name: "nobody can be found", replace: []string{`"email = \(.username | tojson)"`, `"email = \(.username + "x" | tojson)"`},
		severity: Error, rule: "login.find", path: "accounts.find", seen: "is not found by name", whether: "nobody gets mail"},
	{name: "a resource of a client that is read as everybody's", replace: []string{contactAt, contactAt + "\n    client: \"\""},
		severity: Error, rule: "client.none", path: "resources.contact.client", seen: "every client is shown those of all", whether: "shared: true"},
}

const contactAt = "  contact:\n    path: /api/collections/contacts/records"

// TestForeignMistakesOfServices makes mistakes in the sheet of a service that nobody here wrote.
func TestForeignMistakesOfServices(t *testing.T) {
	url := services.PocketBase(t).URL
	text, err := os.ReadFile("../../remote/testdata/pocketbase.yaml")
	require.NoError(t, err)
	env := map[string]string{"POCKETBASE_URL": url, "POCKETBASE_PASSWORD": services.Password}
	check := func(t *testing.T, replace ...string) (strictyaml.Problems, *Report) {
		driver, o, problems := inFront(t, string(text), env, replace...)
		if len(problems) > 0 {
			return problems, nil
		}
		o.Other, o.Login, o.Write = auth.Client{ID: 2, Name: "zuid"}, auth.Credentials{Username: "noord@example.com", Password: services.Password}, auth.Client{ID: 1, Name: "noord"}
		report, err := HTTP(t.Context(), driver, auth.Client{ID: 1, Name: "noord"}, o)
		require.NoError(t, err)
		for _, secret := range []string{"Oil filter", "O'Neil", "N000", "noord@", services.Password} {
			require.NotContains(t, words(t, report), secret, "a report is sent on")
		}
		return nil, report
	}
	right := func(t *testing.T) {
		problems, report := check(t)
		require.Empty(t, problems)
		require.Zero(t, report.Count(Error)+report.Count(Warning), words(t, report))
		require.Contains(t, words(t, report), "the user logs in, and works for client 1\n")
		require.Contains(t, words(t, report), "\ncontact: all 20 record(s), of 2 client(s)\n", "what was made is removed again")
	}
	right(t)
	for _, m := range ofHTTP {
		t.Run(m.name, func(t *testing.T) {
			problems, report := check(t, m.replace...)
			m.isTold(t, problems, report)
		})
	}
	right(t)
}
