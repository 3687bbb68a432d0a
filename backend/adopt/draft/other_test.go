package draft

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/foreigntest"
)

// other returns the path of a database of another vendor.
func other(t *testing.T, name string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name+".db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(string(script))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return path
}

// TestOtherSystems drafts sheets for systems whose names are of other languages
// and habits, and expects lines of them.
func TestOtherSystems(t *testing.T) {
	for name, lines := range map[string][]string{
		"english": {
			"client: company_id", "table: tbl_customers", "key: {columns: customer_id, generated: identity}", "soft_delete: {deleted: Y}", "kind: {from: customer_type, trim: right, codes: {C: company, P: person}}", "birth_date: {from: date_of_birth, type: text, format: yyyy-MM-dd}",
			"license_plate: {from: reg_no, dashes: none}", "fuel_kind: {from: fuel_type, trim: right, codes: {D: diesel, P: petrol, L: lpg, E: electric, H: hybrid}}", "not seen: L is lpg, ", "brand: {from: make, length: 30}", "mileage: odometer",
			"contact_id: customer_id", "total_excl: {from: total_net, readonly: true}", "total_incl: {from: total_gross, readonly: true}",
			"article_number: {from: item_code, length: 30}", "quantity: {from: qty, scale: 2}", "price: {from: unit_price, scale: 2}", "turnover_group_id: {absent: true} # TODO",
			"I is in_progress, or invoiced?", "client: {through: order_id} # guess: there is no company_id, and order has one",
		},
		"german": {
			"client: MANDNR", "table: KUNDE", "key: {columns: KUNDENNR, generated: max+1}", "soft_delete: {GELOESCHT: J}", "name: {from: NACHNAME, length: 40}",
			"kind: {from: ART, trim: right, codes: {F: company, P: person}}", `birth_date: {from: GEBDAT, format: yyyyMMdd, zero: "00000000"}`, "payment_days: ZAHLZIEL",
			"fuel_kind: {from: KRAFTSTOFF, trim: right, codes: {B: petrol, D: diesel, L: lpg, E: electric, H: hybrid}}", "first_admission_date: {from: ERSTZULASSUNG, type: text, format: yyyy-MM-dd}",
			"key: {columns: [MANDNR, AUFTRAGNR, POSNR], generated: max+1}", "price: {from: PREIS, type: integer, decimals: 2}", "quantity: {from: MENGE, scale: 3}",
			`delivery_date: {from: LIEFERDATUM, format: yyyyMMdd}`, "tenths of one (decimals: 1)?",
		},
		"french": {
			"client: id_societe # guess: whose record it is: in 6 of 9 tables, refers to societes", "hash: [bcrypt]", "username: identifiant", "password: mot_de_passe", "email: courriel",
			"table: clients", "kind: {from: genre, trim: right, codes: {E: company, P: person}}", "first_name: {from: prénom,", "vat_number: no_tva", "language: {from: langue,", "payment_days: delai_paiement", "is_supplier: {from: fournisseur,",
			"table: articles", "purchase_price: {from: prix_achat, scale: 2}", "price: {from: prix_vente_ht, scale: 2}", "ean: code_barres", "stock: {from: stock, readonly: true}",
			"table: véhicules", "license_plate: {from: immatriculation, length: 12}", "fuel_kind: {from: carburant, trim: right, codes: {D: diesel, E: petrol, G: lpg, H: hybrid}", "mileage: kilométrage",
			"contact_id: num_client # guess: foreign key to clients", "delivery_date: {from: date_livraison,", "total_excl: {from: total_ht, readonly: true}", "total_incl: {from: total_ttc, readonly: true}", "invoice_number: {from: no_facture,",
			"table: lignes_commande", "client: {through: order_id}", "quantity: {from: quantité, scale: 3}", "price: {from: prix_unitaire, scale: 2}", "discount_percentage: {from: remise, scale: 2}", "description: {from: libellé,", "article_number: {from: ref_article,",
		},
		"spanish": {
			"client: idempresa", "password: contraseña", "table: clientes", "key: {columns: codcliente, generated: max+1}", "birth_date: {from: fecha_nacimiento,", "vat_number: cif", "is_blocked: {from: bloqueado,",
			"table: articulos", "price: {from: precio_venta, scale: 2}", "ean: codigo_barras", "stock: {from: existencias, readonly: true}", "table: vehículos", "license_plate: {from: matrícula,", "vin: {from: bastidor, trim: right}", "contact_id: codcliente # guess: foreign key to clientes",
			"order_date: {from: fecha_pedido,", "table: líneas_pedido", "quantity: {from: cantidad, scale: 3}", "total: {from: importe, readonly: true}",
		},
		"italian": {
			"client: idazienda", "hash: [md5]", "table: anagrafica_clienti", "name: {from: cognome, length: 60}", "first_name: {from: nome, length: 40}", "vat_number: partita_iva", "birth_date: {from: data_nascita,",
			"table: articoli", "number: {from: codice,", "stock: {from: giacenza, readonly: true}", "table: veicoli", "license_plate: {from: targa, dashes: none, length: 12}", "table: ordini", "contact_id: idcliente", "delivery_date: {from: data_consegna,",
			"table: righe_ordine", "order_id: idordine", "quantity: {from: quantità, scale: 3}", "client: {through: order_id}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, _ := drafted(t, "sqlite", other(t, name))
			for _, line := range lines {
				require.Contains(t, text, line)
			}
			require.NotContains(t, text, "create_uid: 1", "what is so of all rows says of none that it was deleted")
		})
	}
}

// TestNames takes names apart.
func TestNames(t *testing.T) {
	w := newWords()
	for name, ideas := range map[string]string{
		"ORDRGL": "order line", "INKPR": "purchase price", "GEBDAT": "birth date", "CustomerNo": "customer number", "first_name": "first name",
		"RELADR": "contact address", "UURTRF": "hour rate", "tbl_Vehicles": "vehicle", "Kundennummer": "customer number", "ZZQX": "",
	} {
		require.Equal(t, ideas, strings.Join(ideasOf(w.split(name)), " "), name)
	}
}

// TestOddNames drafts sheets of tables and columns whose names mean something in YAML, in
// templates or to a terminal, or nothing at all.
func TestOddNames(t *testing.T) {
	names := []string{"a b", " naam ", "naam\n  evil: 1", "${HOME}", "$${HOME}", "naam: x", "# naam", "naam #", "*naam", "&naam", "!naam", "null", "true", "1", "-", "?", "naam'", "{naam}", "[naam]", "naam,adres", "naam\\", "né é", "名前", "naam\u2028x", "naam\x1b[31m", "naam.adres", strings.Repeat("naam", 40)}
	for _, name := range names {
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		for _, script := range []string{
			"CREATE TABLE klant (klantnr INTEGER PRIMARY KEY, " + quoted + " VARCHAR(40), bedrijfnr INTEGER); CREATE TABLE artikel (" + quoted + " INTEGER PRIMARY KEY, bedrijfnr INTEGER, naam TEXT)",
			"CREATE TABLE zz (q INTEGER); CREATE TABLE " + quoted + " (klantnr INTEGER PRIMARY KEY, naam VARCHAR(40), wachtwoord TEXT, gebruiker TEXT)",
			"CREATE TABLE klant (" + quoted + " TEXT PRIMARY KEY, naam VARCHAR(40), omschrijving TEXT DEFAULT " + quoted + "); INSERT INTO klant (naam) VALUES ('${X}'), ('# x')",
		} {
			drafted(t, "sqlite", scripted(t, script))
		}
	}
}

// scripted is the path of a database that a script makes.
func scripted(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(script)
	require.NoError(t, err, script)
	require.NoError(t, db.Close())
	return path
}

// TestAccountsByTheirUsers: the table of users is the one with users in it, and the password
// the column with hashes. Before, it was the first table with a password.
func TestAccountsByTheirUsers(t *testing.T) {
	const tables = `CREATE TABLE adherents (id INTEGER PRIMARY KEY, entity INTEGER, login VARCHAR(50), pass VARCHAR(50), pass_crypted VARCHAR(128));
		CREATE TABLE users (id INTEGER PRIMARY KEY, entity INTEGER, login VARCHAR(50), pass VARCHAR(128), pass_crypted VARCHAR(128), ref_ext VARCHAR(50), api_key VARCHAR(64));
		CREATE TABLE klant (klantnr INTEGER PRIMARY KEY, entity INTEGER, naam VARCHAR(40));`
	text, _ := drafted(t, "sqlite", scripted(t, tables+`INSERT INTO users (entity, login, pass_crypted) VALUES (1, 'a', '$2y$10$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'), (2, 'b', '$2y$10$bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb')`))
	require.Contains(t, text, "  table: users # guess: names and passwords, known hashes in 2 of 2 rows; TODO client_name is what the client, not the user, is called; or is it adherents?")
	require.Contains(t, text, "    password: pass_crypted # guess: hashes in 2 of 2 rows\n")
	require.Contains(t, text, "    client_id: entity # guess: name\n")
	require.Contains(t, text, "  hash: [bcrypt] # guess: the form of the stored hashes\n")
	require.NotContains(t, text, "external: ", "a text is no flag")

	text, _ = drafted(t, "sqlite", scripted(t, tables))
	require.Contains(t, text, "  hash: [bcrypt] # guess: none was seen; TODO how are passwords hashed?")
}

// TestDeclaredKeysBeforeNames: a column that refers elsewhere is no reference, whatever its
// name is, and the primary key is none.
func TestDeclaredKeysBeforeNames(t *testing.T) {
	text, _ := drafted(t, "sqlite", scripted(t, `CREATE TABLE suppliers (supplier_id INTEGER PRIMARY KEY, company_name VARCHAR(40));
		CREATE TABLE customers (customer_id CHAR(5) PRIMARY KEY, company_name VARCHAR(40) NOT NULL, region VARCHAR(15), postal_code VARCHAR(10), phone VARCHAR(24));
		CREATE TABLE products (product_id INTEGER PRIMARY KEY, product_name VARCHAR(40) NOT NULL, supplier_id INTEGER REFERENCES suppliers (supplier_id), unit_price REAL, units_in_stock SMALLINT);
		CREATE TABLE orders (order_id INTEGER PRIMARY KEY, besteller CHAR(5) REFERENCES customers (customer_id), order_date DATE);
		CREATE TABLE order_details (order_id INTEGER NOT NULL REFERENCES orders (order_id), product_id INTEGER NOT NULL REFERENCES products (product_id), unit_price REAL NOT NULL, quantity SMALLINT NOT NULL, discount REAL NOT NULL, PRIMARY KEY (order_id, product_id));
		INSERT INTO orders VALUES (1, NULL, NULL); INSERT INTO products VALUES (1, 'x', NULL, 1, 1); INSERT INTO order_details VALUES (1, 1, 9.5, 2, 0.15)`))
	require.Contains(t, text, "contact_id: besteller # guess: foreign key to customers")
	require.NotContains(t, text, "supplier_id: supplier_id")
	require.NotContains(t, text, "turnover_group_id: product_id")
	require.NotContains(t, text, "company_number: region")
	require.NotContains(t, text, "number: postal_code")
	require.Regexp(t, "discount_percentage: discount # .*TODO a fraction, such as 0.15 for 15 percent", text)
}

// TestUndeclaredReferences: a column that is called after a table, and has ids of its rows, refers to it
// where no key says so; one that has others, or is called otherwise, does not. A table that is
// called just as a record is does not have the record's parts.
func TestUndeclaredReferences(t *testing.T) {
	text, _ := drafted(t, "sqlite", scripted(t, `CREATE TABLE partsgroup (id INTEGER PRIMARY KEY, partsgroup VARCHAR(20), description VARCHAR(40));
		CREATE TABLE parts (id INTEGER PRIMARY KEY, partnumber VARCHAR(20), description VARCHAR(40), partsgroup_id INTEGER, onhand NUMERIC);
		CREATE TABLE orders (id INTEGER PRIMARY KEY, ordnumber VARCHAR(20), partsgroup_id INTEGER);
		CREATE TABLE orderitems (id INTEGER PRIMARY KEY, order_id INTEGER, parts_id INTEGER, description VARCHAR(40), qty NUMERIC, sellprice NUMERIC);
		CREATE TABLE person (id INTEGER PRIMARY KEY, first_name VARCHAR(40), last_name VARCHAR(40), birthdate DATE);
		CREATE TABLE account (accno VARCHAR(20) PRIMARY KEY, description VARCHAR(40), category CHAR(1));
		INSERT INTO partsgroup VALUES (1, 'A', 'a'), (2, 'B', 'b'); INSERT INTO parts VALUES (1, 'N1', 'x', 1, 3), (2, 'N2', 'y', 2, 4);
		INSERT INTO orders VALUES (7, 'O7', 31); INSERT INTO orderitems VALUES (1, 7, 2, 'x', 1, 2.5)`))
	for _, line := range []string{"table: partsgroup # guess: name (part group)", "turnover_group_id: partsgroup_id # guess: its values are ids of partsgroup", "stock: {from: onhand,", "table: orderitems #", "order_id: order_id # guess: its values are ids of orders"} {
		require.Contains(t, text, line)
	}
	require.NotContains(t, text, "contactcommunication:\n")
}

// TestForeign drafts sheets of administrations that nobody here wrote: each loads.
func TestForeign(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *foreigntest.System{"tryton": foreigntest.Tryton, "sqlledger": foreigntest.SQLLedger, "kraft": foreigntest.Kraft} {
		t.Run(name, func(t *testing.T) {
			engine := "postgres"
			if name == "kraft" {
				engine = "mariadb"
			}
			_, s := drafted(t, engine, start(t).DSN)
			require.Positive(t, s.Resources)
		})
	}
}

// TestNothing drafts a sheet of databases in which there is little to find.
func TestNothing(t *testing.T) {
	for name, script := range map[string]string{
		"empty":   "SELECT 1",
		"useless": "CREATE TABLE zz (q INTEGER)",
		"strange": "CREATE TABLE qzx (a, b BLOB); CREATE TABLE klant (x TEXT, y REAL); CREATE VIEW relatie AS SELECT 1 AS nr; INSERT INTO klant VALUES (NULL, 1.5);",
		"nulls":   "CREATE TABLE klant (klantnr INTEGER PRIMARY KEY, naam VARCHAR(40), srt CHAR(1)); INSERT INTO klant VALUES (1, NULL, NULL);",
	} {
		t.Run(name, func(t *testing.T) {
			text, s := drafted(t, "sqlite", scripted(t, script))
			require.Contains(t, text, "format: 1\n")
			require.LessOrEqual(t, s.Resources, 1)
			if name == "nulls" {
				require.Contains(t, text, "name: {from: naam, length: 40}")
				require.Contains(t, text, "kind: {absent: true} # TODO kind: {from: srt, trim: right, codes: {}} # which codes stand for person, company?")
			}
		})
	}
}

// TestFloatsKeepTheirDecimals: before, a column without a scale was drafted as one of
// none, and amounts were rounded to whole numbers.
func TestFloatsKeepTheirDecimals(t *testing.T) {
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			dsn := start(t)
			db, err := sql.Open(map[string]string{"mariadb": "mysql", "postgres": "pgx", "sqlite": "sqlite"}[engine], dsn)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			double := map[string]string{"mariadb": "double", "postgres": "double precision", "sqlite": "double"}[engine]
			for _, statement := range []string{
				`DROP TABLE IF EXISTS "ORDRGL"`,
				"CREATE TABLE order_lines (id integer NOT NULL PRIMARY KEY, order_id integer NOT NULL, description varchar(40), quantity " + double + ", price float, discount_percentage real, total decimal(9,2))",
				"INSERT INTO order_lines VALUES (1, 1, 'bolt', 0.5, 12.75, 2.5, 6.37)",
			} {
				if engine == "mariadb" {
					statement = strings.ReplaceAll(statement, `"`, "`")
				}
				_, err := db.Exec(statement)
				require.NoError(t, err, statement)
			}
			text, _ := drafted(t, engine, dsn)
			require.Contains(t, text, "table: order_lines")
			for _, field := range []string{"quantity", "price", "discount_percentage"} {
				require.Regexp(t, "(?m)^      "+field+": "+field+" #", text)
			}
		})
	}
}
