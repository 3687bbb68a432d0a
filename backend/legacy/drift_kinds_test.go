package legacy

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// alteration is a change of the schema of underSheet, and how it is taken back.
type alteration struct {
	name     string
	do, undo []string
	// closes says what of a resource has to be closed once the database was looked at; others go on.
	closes map[string]closes
	// may are resources whose writes need what is closed, to judge them.
	may []string
	// unsure are resources of which requests may fail until the database was looked at.
	unsure []string
	// looked says that it is taken back only once the database was looked at. To a snapshot that is
	// older than a column PostgreSQL shows it as null, which nothing tells from a true one.
	looked bool
	// strains is what writes send meanwhile that the tables cannot hold.
	strains string
}

// closes is what of a resource is closed.
type closes int

const (
	creates closes = 1 << iota
	updates
	reads // and so all else
)

// of are the words of an engine.
func of(engine, postgres, mariadb string) string {
	if engine == "postgres" {
		return postgres
	}
	return mariadb
}

// retype is a column with another type.
func retype(engine, table, column, to string) string {
	return of(engine, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s USING %s::%s", table, column, to, column, to), fmt.Sprintf("ALTER TABLE %s MODIFY %s %s", table, column, to))
}

var (
	articles = map[string]closes{"article": reads}
	contacts = map[string]closes{"contact": reads}
	groups   = map[string]closes{"turnovergroup": reads}
)

// alterations are those that are drawn from.
func alterations(engine, user string) []alteration {
	all := renames()
	all = append(all, retypes(engine)...)
	all = append(all, narrowings(engine)...)
	all = append(all, drops(engine)...)
	return append(all, grants(engine, user)...)
}

func renames() (all []alteration) {
	column := func(table, name string, closes map[string]closes, may ...string) {
		to := fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %%s TO %%s", table)
		all = append(all, alteration{name: table + "." + name + " is renamed", do: []string{fmt.Sprintf(to, name, "x_"+name)}, undo: []string{fmt.Sprintf(to, "x_"+name, name)}, closes: closes, may: may})
	}
	table := func(name string, closes map[string]closes, may ...string) {
		all = append(all, alteration{name: name + " is renamed", do: []string{"ALTER TABLE " + name + " RENAME TO x_" + name}, undo: []string{"ALTER TABLE x_" + name + " RENAME TO " + name}, closes: closes, may: may})
	}
	for _, name := range []string{"id", "adm", "nr", "oms", "srt", "grp", "prijs", "inkoop", "lev"} {
		column("art", name, articles, "contact", "turnovergroup")
	}
	for _, name := range []string{"code", "adm", "nr", "naam", "voor", "geb", "dagen"} {
		column("rel", name, contacts, "article")
	}
	column("grp", "code", groups, "article")
	column("vrd", "aantal", articles, "contact", "turnovergroup")
	column("art", "vrij", nil)
	table("art", articles, "contact", "turnovergroup")
	table("rel", contacts, "article")
	table("grp", groups, "article")
	table("vrd", articles, "contact", "turnovergroup")
	table("los", nil)
	return all
}

func retypes(engine string) (all []alteration) {
	column := func(table, name, from, to string, closes map[string]closes, may ...string) {
		all = append(all, alteration{name: fmt.Sprint(table, ".", name, " becomes ", to), do: []string{retype(engine, table, name, to)}, undo: []string{retype(engine, table, name, from)}, closes: closes, may: may})
	}
	column("art", "prijs", "DECIMAL(10,2)", "VARCHAR(30)", articles, "contact", "turnovergroup")
	column("art", "inkoop", "DECIMAL(10,2)", "VARCHAR(30)", articles, "contact", "turnovergroup")
	column("art", "prijs", "DECIMAL(10,2)", "DECIMAL(12,2)", nil)
	column("art", "prijs", "DECIMAL(10,2)", "DOUBLE PRECISION", nil)
	column("art", "oms", "VARCHAR(60)", "TEXT", nil)
	column("art", "nr", "VARCHAR(40)", "VARCHAR(50)", nil)
	column("art", "adm", "INTEGER", "BIGINT", nil)
	column("rel", "dagen", "INTEGER", "VARCHAR(30)", contacts, "article")
	column("rel", "dagen", "INTEGER", "BIGINT", nil)
	column("rel", "geb", "DATE", "VARCHAR(30)", contacts, "article")
	column("rel", "geb", "DATE", of(engine, "TIMESTAMP", "DATETIME"), nil)
	column("rel", "code", "VARCHAR(10)", "VARCHAR(20)", nil)
	column("rel", "adm", "INTEGER", "VARCHAR(10)", nil)
	all[len(all)-1].unsure = []string{"contact", "article"}
	return all
}

// narrowings are columns that hold all that is there, and not what is then sent.
func narrowings(engine string) (all []alteration) {
	column := func(strains, table, name, from, to string, closes map[string]closes) {
		all = append(all, alteration{name: fmt.Sprint(table, ".", name, " becomes ", to), do: []string{retype(engine, table, name, to)}, undo: []string{retype(engine, table, name, from)}, strains: strains, closes: closes})
	}
	rounded := map[string]closes{"article": creates | updates}
	column("long", "rel", "voor", "VARCHAR(40)", "VARCHAR(16)", nil)
	column("large", "art", "prijs", "DECIMAL(10,2)", "DECIMAL(8,2)", nil)
	column("fraction", "art", "prijs", "DECIMAL(10,2)", "INTEGER", rounded)
	column("fraction", "art", "prijs", "DECIMAL(10,2)", "DECIMAL(10,1)", rounded)
	column("days", "rel", "dagen", "INTEGER", "SMALLINT", nil)
	all = append(all, alteration{
		name: "rel.voor must have a value", strains: "null",
		do:   []string{of(engine, "ALTER TABLE rel ALTER COLUMN voor SET NOT NULL", "ALTER TABLE rel MODIFY voor VARCHAR(40) NOT NULL")},
		undo: []string{of(engine, "ALTER TABLE rel ALTER COLUMN voor DROP NOT NULL", "ALTER TABLE rel MODIFY voor VARCHAR(40)")},
	})
	return all
}

func drops(engine string) (all []alteration) {
	column := func(table, name, as string, closes map[string]closes, may ...string) {
		keep := fmt.Sprintf("CREATE TABLE weg AS SELECT %s AS k, %s AS v FROM %s", keyOfTable[table], name, table)
		back := fmt.Sprintf("UPDATE %s SET %s = (SELECT v FROM weg WHERE k = %s.%s)", table, name, table, keyOfTable[table])
		add := fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", table, name, as)
		drop := fmt.Sprintf("ALTER TABLE %s DROP COLUMN %s", table, name)
		a := alteration{name: table + "." + name + " is dropped", closes: closes, may: may, looked: engine == "postgres",
			do: []string{"BEGIN", "LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE", keep, drop, "COMMIT"}, undo: []string{"BEGIN", add, back, "DROP TABLE weg", "COMMIT"}}
		if engine != "postgres" {
			create := "CREATE TABLE weg (k VARCHAR(20), v " + as + ")"
			fill := strings.Replace(keep, "CREATE TABLE weg AS", "INSERT INTO weg", 1)
			a.do = []string{create, "LOCK TABLES " + table + " WRITE, weg WRITE", fill, drop, "UNLOCK TABLES"}
			a.undo = []string{"LOCK TABLES " + table + " WRITE, weg WRITE", add, back, "UNLOCK TABLES", "DROP TABLE weg"}
		}
		all = append(all, a)
	}
	column("art", "inkoop", "DECIMAL(10,2)", articles, "contact", "turnovergroup")
	column("art", "oms", "VARCHAR(60)", articles, "contact", "turnovergroup")
	column("rel", "voor", "VARCHAR(40)", contacts, "article")
	all = append(all,
		alteration{name: "los is dropped", do: []string{"DROP TABLE los"}, undo: []string{"CREATE TABLE los (a INTEGER)"}},
		alteration{name: "a column that may stay empty", do: []string{"ALTER TABLE art ADD COLUMN nieuw INTEGER"}, undo: []string{"ALTER TABLE art DROP COLUMN nieuw"}},
		alteration{name: "a column that must be filled", closes: map[string]closes{"article": creates},
			do: []string{"ALTER TABLE art ADD COLUMN regio INTEGER NOT NULL DEFAULT 0", "ALTER TABLE art ALTER COLUMN regio DROP DEFAULT"}, undo: []string{"ALTER TABLE art DROP COLUMN regio"}},
		alteration{name: "the index of numbers goes", do: []string{of(engine, "DROP INDEX i_nr", "DROP INDEX i_nr ON art")}, undo: []string{"CREATE UNIQUE INDEX i_nr ON art (nr)"}},
		alteration{name: "an index goes", do: []string{of(engine, "DROP INDEX i_prijs", "DROP INDEX i_prijs ON art")}, undo: []string{"CREATE INDEX i_prijs ON art (prijs)"}},
	)
	return all
}

var keyOfTable = map[string]string{"art": "id", "rel": "code"}

func grants(engine, user string) (all []alteration) {
	revoke := func(right, table string, closes map[string]closes, may ...string) {
		all = append(all, alteration{name: right + " of " + table + " is revoked", closes: closes, may: may,
			do: []string{fmt.Sprintf("REVOKE %s ON %s FROM %s", right, table, user)}, undo: []string{fmt.Sprintf("GRANT %s ON %s TO %s", right, table, user)}})
	}
	revoke("SELECT", "art", articles, "contact", "turnovergroup")
	revoke("SELECT", "grp", groups, "article")
	revoke("SELECT", "rel", contacts, "article")
	revoke("UPDATE", "art", map[string]closes{"article": updates}, of(engine, "article", "")) // without it PostgreSQL locks no row
	revoke("INSERT", "art", map[string]closes{"article": creates})
	revoke("UPDATE", "rel", map[string]closes{"contact": updates}, of(engine, "contact", ""))
	revoke("SELECT", "los", nil)
	return all
}

// drawn are so many alterations.
func drawn(random *rand.Rand, engine, user string, n int) (all []alteration) {
	of := alterations(engine, user)
	for len(all) < n {
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		all = append(all, of[:min(len(of), n-len(all))]...)
	}
	return all
}
