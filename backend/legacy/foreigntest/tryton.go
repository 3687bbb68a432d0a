package foreigntest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// Tryton makes a Tryton with its modules party, product and sale: two companies with
// parties, products and sales. The users "wit" of the first and "Wit" of the second log
// in with the password "tafel-Berg-" and their name.
func Tryton(t testing.TB) *System {
	t.Helper()
	tools := trytonTools{
		admin: sqltest.Tool(t, "tryton", "trytond-admin"), python: sqltest.Tool(t, "tryton", "/usr/bin/python3"),
		dump: sqltest.Tool(t, "tryton", "pg_dump"), psql: sqltest.Tool(t, "tryton", "psql"), dir: t.TempDir(),
	}
	s := &System{DSN: sqltest.PostgresLike(t, "tryton", tools.provide), Sheet: filepath.Join(files("tryton"), "tryton.yaml"), rows: trytonRows}
	o, end, err := tools.office(s.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, end()) })
	s.office = o
	s.look(t)
	return s
}

type trytonTools struct{ admin, python, dump, psql, dir string }

// provide fills an empty database. That takes Tryton a minute, so it is done once for
// this version of it, and kept.
func (tools trytonTools) provide(dsn string) error {
	kept, err := tools.keptAt()
	if err != nil {
		return err
	}
	filled := false
	err = sqltest.Once(kept, func(file string) error {
		filled = true
		if err := tools.install(dsn); err != nil {
			return err
		}
		return run(exec.Command(tools.dump, "--no-owner", "-f", file, dsn))
	})
	if err != nil || filled {
		return err
	}
	return run(exec.Command(tools.psql, "-q", "-v", "ON_ERROR_STOP=1", "-o", os.DevNull, "-f", kept, dsn))
}

// keptAt is the file for the database of this Tryton, filled by this program.
func (tools trytonTools) keptAt() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	program, err := os.ReadFile(officeOf("tryton"))
	if err != nil {
		return "", err
	}
	version, err := exec.Command(tools.admin, "--version").Output()
	if err != nil {
		return "", err
	}
	server, err := exec.Command(tools.dump, "--version").Output()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(sum, "%s%s%s", program, version, server)
	return filepath.Join(folder, "frontdesk-tests", fmt.Sprintf("tryton-%x.sql", sum.Sum(nil)[:8])), nil
}

// install makes the tables by Tryton's own program, and fills them.
func (tools trytonTools) install(dsn string) error {
	config, database, err := tools.config(dsn)
	if err != nil {
		return err
	}
	password := filepath.Join(tools.dir, "password")
	if err := os.WriteFile(password, []byte("tafel-Berg-admin\n"), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(tools.admin, "-c", config, "-d", database, "--all", "-u", "sale", "--activate-dependencies", "--email", "admin@example.com")
	cmd.Env = append(os.Environ(), "TRYTONPASSFILE="+password)
	if err := run(cmd); err != nil {
		return err
	}
	o, end, err := tools.office(dsn)
	if err != nil {
		return err
	}
	return errors.Join(o.do("fill", map[string]any{}, nil), end())
}

// config writes Tryton's configuration for a database.
func (tools trytonTools) config(dsn string) (file, database string, err error) {
	to, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(tools.dir, "trytond.conf")
	text := fmt.Sprintf("[database]\nuri = postgresql://%s@%s:%d/\n", to.User, to.Host, to.Port)
	return file, to.Database, os.WriteFile(file, []byte(text), 0o600)
}

// office starts the program that works in a database.
func (tools trytonTools) office(dsn string) (*office, func() error, error) {
	config, database, err := tools.config(dsn)
	if err != nil {
		return nil, nil, err
	}
	return open(exec.Command(tools.python, officeOf("tryton"), config, database))
}

func officeOf(system string) string { return filepath.Join(files(system), "office.py") }

// run runs a program to its end; if it fails, its output is in the error.
func run(cmd *exec.Cmd) error {
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Path, err, output[max(0, len(output)-4096):])
	}
	return nil
}

// moments are the fields for when a row was made and changed.
const moments = `'created_at', to_char(date_trunc('milliseconds', create_date), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
	'modified_at', to_char(date_trunc('milliseconds', write_date), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const midnight = `'YYYY-MM-DD"T00:00:00Z"'`

var trytonRows = map[string]query{
	"country": {
		sql: `SELECT id::text AS key, NULL::bigint, false, json_build_object('code', code, 'name', name, ` + moments + `), to_json(c) FROM country_country c ORDER BY id`,
	},
	"contact": {
		sql:  `SELECT id::text AS key, NULL::bigint, active IS NOT TRUE, json_build_object('number', code, 'name', name, ` + moments + `), to_json(p) FROM party_party p ORDER BY id`,
		says: map[string]string{"name": "name", "modified_at": "write_date", "created_at": "create_date"},
	},
	"contactaddress": {
		sql: `SELECT id::text AS key, NULL::bigint, active IS NOT TRUE, json_build_object('contact_id', party::text, 'street', street, 'postcode', postal_code, 'city', city,
			'country_id', country::text, ` + moments + `), to_json(a) FROM party_address a ORDER BY id`,
		says:   map[string]string{"contact_id": "party", "street": "street", "postcode": "postal_code", "city": "city", "country_id": "country", "modified_at": "write_date"},
		refers: []string{"contact_id", "country_id"},
	},
	"contactcommunication": {
		sql: `SELECT id::text AS key, NULL::bigint, active IS NOT TRUE, json_build_object('contact_id', party::text, 'value', value, 'description', name,
			'type', CASE type WHEN 'phone' THEN 1 WHEN 'mobile' THEN 2 WHEN 'fax' THEN 3 WHEN 'email' THEN 4 WHEN 'website' THEN 5 ELSE 6 END, ` + moments + `),
			(to_jsonb(m) - 'value_compact')::json FROM party_contact_mechanism m ORDER BY id`,
		says:   map[string]string{"contact_id": "party", "value": "value", "description": "name", "type": "type", "modified_at": "write_date"},
		refers: []string{"contact_id"},
	},
	// The price is that of the company that asks, and so of no row.
	"article": {
		sql: `SELECT p.id::text AS key, NULL::bigint, active IS NOT TRUE, json_build_object('number', code, 'description', (SELECT name FROM product_template t WHERE t.id = template),
			'article_kind', (SELECT CASE type WHEN 'service' THEN 'labour' ELSE 'part' END FROM product_template t WHERE t.id = template),
			'unit_type', (SELECT CASE default_uom WHEN 1 THEN 'piece' WHEN 2 THEN 'kg' WHEN 9 THEN 'hour' END FROM product_template t WHERE t.id = template), ` + moments + `),
			to_json(p) FROM product_product p ORDER BY id`,
	},
	// The last name is that of a party, which changes with it.
	"employee": {
		sql: `SELECT e.id::text AS key, company, false, json_build_object('username', (SELECT login FROM res_user u WHERE u.employee = e.id), ` + moments + `), to_json(e) FROM company_employee e ORDER BY id`,
	},
	"order": {
		sql: `SELECT id::text AS key, company, false, json_build_object('number', number, 'contact_id', party::text, 'order_status', CASE state WHEN 'draft' THEN 'concept'
			WHEN 'quotation' THEN 'open' WHEN 'confirmed' THEN 'in_progress' WHEN 'processing' THEN 'ready' WHEN 'done' THEN 'invoiced' ELSE state END,
			'order_date', to_char(sale_date, ` + midnight + `), 'delivery_date', to_char(shipping_date, ` + midnight + `), 'reference', reference, 'description', description,
			'total_excl', untaxed_amount_cache, 'total_incl', total_amount_cache, ` + moments + `), to_json(s) FROM sale_sale s ORDER BY id`,
		says: map[string]string{"contact_id": "party", "order_status": "state", "order_date": "sale_date", "delivery_date": "shipping_date",
			"reference": "reference", "description": "description", "modified_at": "write_date"},
		refers: []string{"contact_id"},
	},
	// Lines of comment are not shown, and go with their order by the system's own key.
	"orderline": {
		sql: `SELECT l.id::text AS key, (SELECT company FROM sale_sale s WHERE s.id = sale), false, json_build_object('order_id', sale::text, 'sort_order', sequence,
			'article_id', product::text, 'description', description, 'quantity', quantity, 'unit_type', CASE unit WHEN 1 THEN 'piece' WHEN 2 THEN 'kg' WHEN 9 THEN 'hour'
			WHEN 12 THEN 'metre' WHEN 21 THEN 'litre' END, 'price', unit_price, ` + moments + `), to_json(l) FROM sale_line l WHERE type = 'line' ORDER BY id`,
		says: map[string]string{"order_id": "sale", "sort_order": "sequence", "article_id": "product", "description": "description", "quantity": "quantity",
			"unit_type": "unit", "price": "unit_price", "modified_at": "write_date"},
		refers: []string{"order_id", "article_id"},
	},
}
