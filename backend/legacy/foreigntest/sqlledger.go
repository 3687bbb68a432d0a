package foreigntest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// SQLLedger makes an SQL-Ledger: two departments, whose orders are of customers and parts
// that they share. Nothing refers to anything by a foreign key, none is written as 0,
// numbers are floating, and nothing says when it was changed. The users "north" and
// "south" have the password "not-a-secret-1".
func SQLLedger(t testing.TB) *System {
	t.Helper()
	perl := sqltest.Tool(t, "sql-ledger", "perl")
	home := folder(t, "sql-ledger", "SL")
	worker := func(dsn string) (*office, func() error, error) {
		to, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, nil, err
		}
		cmd := exec.Command(perl, filepath.Join(files("sqlledger"), "office.pl"), to.Host, strconv.Itoa(int(to.Port)), to.User, to.Database)
		cmd.Dir = home
		return open(cmd)
	}
	dsn := sqltest.PostgresLike(t, "sqlledger", func(dsn string) error {
		o, end, err := worker(dsn)
		if err != nil {
			return err
		}
		return errors.Join(o.do("fill", map[string]any{}, nil), end(), index(dsn))
	})
	s := &System{DSN: dsn, Sheet: filepath.Join(files("sqlledger"), "sqlledger.yaml"), rows: ledgerRows}
	o, end, err := worker(dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, end()) })
	s.office = o
	s.look(t)
	return s
}

// index makes the indexes that the sheet's maker makes.
func index(dsn string) error {
	text, err := os.ReadFile(filepath.Join(files("sqlledger"), "indexes.sql"))
	if err != nil {
		return err
	}
	return sqltest.Execute(dsn, string(text))
}

const units = `CASE unit WHEN 'ea' THEN 'piece' WHEN 'hr' THEN 'hour' WHEN 'kg' THEN 'kg' WHEN 'l' THEN 'litre' WHEN 'm' THEN 'metre' WHEN 'set' THEN 'set' END`

var ledgerRows = map[string]query{
	"turnovergroup": {
		sql:  `SELECT g.id::text, NULL::bigint, false, json_build_object('code', code, 'description', partsgroup), to_json(g) FROM partsgroup g ORDER BY g.id`,
		says: map[string]string{"code": "code", "description": "partsgroup"},
	},
	"contact": {
		sql: `SELECT c.id::text, NULL::bigint, coalesce(enddate < current_date, false), json_build_object('number', customernumber, 'name', name, 'payment_days', terms, 'note', notes,
			'vat_number', taxnumber, 'language', language_code), to_json(c) FROM customer c ORDER BY c.id`,
		says: map[string]string{"number": "customernumber", "name": "name", "payment_days": "terms", "note": "notes", "vat_number": "taxnumber", "language": "language_code"},
	},
	"contactaddress": {
		sql: `SELECT a.id::text, NULL::bigint, trans_id NOT IN (SELECT id FROM customer), json_build_object('contact_id', trans_id::text, 'street', address1, 'postcode', zipcode, 'city', city),
			to_json(a) FROM address a ORDER BY a.id`,
		says:   map[string]string{"contact_id": "trans_id", "street": "address1", "postcode": "zipcode", "city": "city"},
		refers: []string{"contact_id"},
	},
	"employee": {
		sql: `SELECT e.id::text, NULL::bigint, false, json_build_object('number', employeenumber, 'username', login, 'last_name', name, 'email', email), to_json(e)
			FROM employee e ORDER BY e.id`,
	},
	"article": {
		sql: `SELECT p.id::text, NULL::bigint, obsolete IS TRUE, json_build_object('number', partnumber, 'description', description, 'article_kind', CASE WHEN inventory_accno_id IS NULL
			THEN 'labour' ELSE 'part' END, 'unit_type', ` + units + `, 'turnover_group_id', nullif(partsgroup_id, 0)::text, 'purchase_price', ` + four("lastcost") + `,
			'price', ` + four("sellprice") + `, 'stock', ` + four("onhand") + `, 'ean', barcode), to_json(p) FROM parts p ORDER BY p.id`,
		says: map[string]string{"number": "partnumber", "description": "description", "unit_type": "unit", "turnover_group_id": "partsgroup_id", "purchase_price": "lastcost",
			"price": "sellprice", "stock": "onhand", "ean": "barcode"},
		refers: []string{"turnover_group_id"},
	},
	"order": {
		sql: `SELECT o.id::text, coalesce(department_id, 0)::bigint, coalesce(quotation OR customer_id <= 0, true), json_build_object('number', ordnumber, 'contact_id', customer_id::text,
			'employee_id', nullif(employee_id, 0)::text, 'order_status', CASE WHEN closed THEN 'invoiced' ELSE 'open' END, 'order_date', ` + inAmsterdam("transdate") + `,
			'delivery_date', ` + inAmsterdam("reqdate") + `, 'reference', ponumber, 'description', notes, 'total_excl', round(netamount::numeric, 2), 'total_incl', round(amount::numeric, 2)),
			to_json(o) FROM oe o ORDER BY o.id`,
		says: map[string]string{"contact_id": "customer_id", "employee_id": "employee_id", "order_status": "closed", "order_date": "transdate", "delivery_date": "reqdate",
			"reference": "ponumber", "description": "notes"},
		refers: []string{"contact_id", "employee_id"},
	},
	"orderline": {
		sql: `SELECT i.id::text, (SELECT department_id FROM oe WHERE oe.id = trans_id AND NOT quotation AND customer_id > 0)::bigint, NOT EXISTS (SELECT 1 FROM oe WHERE oe.id = trans_id
			AND NOT quotation AND customer_id > 0), json_build_object('order_id', trans_id::text, 'article_id', parts_id::text, 'description', description, 'quantity', ` + four("qty") + `,
			'unit_type', ` + units + `, 'price', ` + four("sellprice") + `, 'discount_percentage', ` + four("discount::numeric * 100") + `), to_json(i) FROM orderitems i ORDER BY i.id`,
		says: map[string]string{"order_id": "trans_id", "article_id": "parts_id", "description": "description", "quantity": "qty", "unit_type": "unit", "price": "sellprice",
			"discount_percentage": "discount"},
		refers: []string{"order_id", "article_id"},
	},
}

// four is a number as the interface has it: with four decimals.
func four(number string) string { return "round((" + number + ")::numeric, 4)" }

// inAmsterdam is the midnight with which a day begins there.
func inAmsterdam(day string) string {
	return "to_char(" + day + `::timestamp AT TIME ZONE 'Europe/Amsterdam' AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
}
