package legacy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// alteration is a row of testdata/alterations.txt.
type alteration struct {
	name     string
	do, undo []string
	closes   map[string]closes
	may      []string
	unsure   []string
	// looked says that it is taken back only once the database was looked at. To a snapshot that is
	// older than a column PostgreSQL shows it as null, which nothing tells from a true one.
	looked  bool
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

// alterations are those that are drawn from.
func alterations(t *testing.T, engine, user string) (all []alteration) {
	t.Helper()
	text, err := os.ReadFile("testdata/alterations.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if found := engineLine.FindStringSubmatch(line); found != nil {
			if line = found[2]; found[1] != engine {
				continue
			}
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Split(line, " | ")
		like := alteration{closes: map[string]closes{}}
		for _, word := range words[1:] {
			what, of, _ := strings.Cut(word, " ")
			switch what {
			case "may":
				like.may = strings.Fields(of)
			case "unsure":
				like.unsure = strings.Fields(of)
			case "strains":
				like.strains = of
			default:
				how, known := map[string]closes{"closes": reads, "creates": creates, "updates": updates}[what]
				require.True(t, known, line)
				like.closes[of] |= how
			}
		}
		all = append(all, like.each(t, engine, user, words[0])...)
	}
	return all
}

// each are the alterations of a row, which are like this one otherwise.
func (like alteration) each(t *testing.T, engine, user, row string) (all []alteration) {
	verb, of, _ := strings.Cut(row, " ")
	table, what, _ := strings.Cut(of, ": ")
	add := func(name string, do, undo []string) {
		like.name, like.do, like.undo = name, do, undo
		all = append(all, like)
	}
	switch verb {
	case "rename":
		for _, column := range strings.Split(what, ", ") {
			to := "ALTER TABLE " + table + " RENAME COLUMN %s TO %s"
			add("rename "+table+"."+column, []string{fmt.Sprintf(to, column, "x_"+column)}, []string{fmt.Sprintf(to, "x_"+column, column)})
		}
	case "table":
		add("rename "+of, []string{"ALTER TABLE " + of + " RENAME TO x_" + of}, []string{"ALTER TABLE x_" + of + " RENAME TO " + of})
	case "retype":
		column, types, _ := strings.Cut(what, " ")
		from, to, _ := strings.Cut(types, " to ")
		add(row, []string{retype(engine, table, column, to)}, []string{retype(engine, table, column, from)})
	case "drop":
		column, kind, _ := strings.Cut(what, " ")
		like.looked = engine == "postgres"
		do, undo := dropped(engine, table, column, kind)
		add(row, do, undo)
	case "revoke":
		add(row, []string{"REVOKE " + of + " FROM " + user}, []string{"GRANT " + of + " TO " + user})
	case "sql":
		do, back, _ := strings.Cut(of, "; back ")
		add(do, strings.Split(do, "; "), []string{back})
	default:
		t.Fatal(row)
	}
	return all
}

// dropped drops a column, and puts it back with what it had.
func dropped(engine, table, column, kind string) (do, undo []string) {
	key := map[string]string{"art": "id", "rel": "code"}[table]
	kept := fmt.Sprintf("SELECT %s AS k, %s AS v FROM %s", key, column, table)
	back := fmt.Sprintf("UPDATE %s SET %s = (SELECT v FROM weg WHERE k = %s.%s)", table, column, table, key)
	add, drop := fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", table, column, kind), fmt.Sprintf("ALTER TABLE %s DROP COLUMN %s", table, column)
	if engine == "postgres" {
		return []string{"BEGIN", "LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE", "CREATE TABLE weg AS " + kept, drop, "COMMIT"}, []string{"BEGIN", add, back, "DROP TABLE weg", "COMMIT"}
	}
	lock := "LOCK TABLES " + table + " WRITE, weg WRITE"
	return []string{"CREATE TABLE weg (k VARCHAR(20), v " + kind + ")", lock, "INSERT INTO weg " + kept, drop, "UNLOCK TABLES"}, []string{lock, add, back, "UNLOCK TABLES", "DROP TABLE weg"}
}

// drawn are so many alterations.
func drawn(t *testing.T, random *rand.Rand, engine, user string, n int) (all []alteration) {
	of := alterations(t, engine, user)
	for len(all) < n {
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		all = slices.Concat(all, of[:min(len(of), n-len(all))])
	}
	return all
}
