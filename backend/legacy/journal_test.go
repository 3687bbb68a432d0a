package legacy

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
)

// noted are the tables of followedTables in a system that notes itself what changes, by
// triggers of its own: which table, which key, and when.
func noted(engine string) []string {
	number, row, end := "integer PRIMARY KEY AUTOINCREMENT", "FOR EACH ROW BEGIN %s; END", ""
	switch engine {
	case "mariadb":
		number = "integer AUTO_INCREMENT PRIMARY KEY"
	case "postgres":
		number = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
		row, end = "FOR EACH ROW EXECUTE FUNCTION %s()", "; RETURN NULL; END $$ LANGUAGE plpgsql"
	}
	all := append([]string{"CREATE TABLE f_wijz (nr " + number + ", tabel varchar(10) NOT NULL, sleutel varchar(20) NOT NULL)"}, followedTables...)
	for table, key := range map[string]string{"f_rel": "nr", "f_com": "code"} {
		for event, of := range map[string]string{"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"} {
			name := strings.ToLower(table + "_" + event)
			does := fmt.Sprintf("INSERT INTO f_wijz (tabel, sleutel) VALUES ('%s', %s.%s)", table, of, key)
			if end != "" {
				all = append(all, "CREATE FUNCTION "+name+"() RETURNS trigger AS $$ BEGIN "+does+end)
				does = name
			}
			all = append(all, "CREATE TRIGGER "+name+" AFTER "+event+" ON "+table+" "+fmt.Sprintf(row, does))
		}
	}
	return all
}

// changesByTable is the example of the page on sheets.
var changesByTable = sync.OnceValue(func() string {
	page, err := os.ReadFile("../../docs/sheet.md")
	if err != nil {
		panic(err)
	}
	return string(regexp.MustCompile(`changes: \{by: table, .*\}\n`).Find(page))
})

// notedSheet reads what such a system notes, hardly ever anything else, as the example says it.
func notedSheet(engine string) string {
	text := strings.Replace(fmt.Sprintf(followedSheet, engine), "\nchanges: {by: scan, every: 10ms, pause: 1ms, page: 3}\n", "\n", 1)
	for _, table := range []string{"f_rel", "f_com"} {
		changes := strings.NewReplacer("WIJZIGING", "f_wijz", "VOLGNR", "nr", "SLEUTEL", "sleutel", "TABEL", "tabel", "'REL'", "'"+table+"'", "}", ", every: 10ms, pause: 1ms, page: 3, settle: 50ms}").Replace(changesByTable())
		text = strings.Replace(text, "    table: "+table+"\n", "    table: "+table+"\n    "+changes, 1)
	}
	return text
}

// TestChangesByTable has what others change told by the table that the system itself writes:
// made, changed, removed, marked, moved to another client. Records of other clients get no ID.
func TestChangesByTable(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x, _, _ := onTables(t, engine, notedSheet(engine), noted(engine)...)
		f := x.followed(t, ownDatabase(t, engine)(), x.sheet)
		require.Equal(t, backend.TellsAll, f.Tells(x.model.Resource("contact")))
		ones, twos := x.copyOf(t, one), x.copyOf(t, two)
		after := x.cursor(t, one)
		eventually := func(want ...string) {
			t.Helper()
			x.eventually(t, want, func() []string { return x.changed(t, one, after, x.model.Resource("contact")) })
		}
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		eventually("updated contact 3")
		x.exec("UPDATE f_rel SET weg = 1 WHERE nr = 5")
		eventually("updated contact 3", "deleted contact 5")
		x.exec("UPDATE f_rel SET adm = 2 WHERE nr = 2")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2")
		x.exec("INSERT INTO f_rel (nr, adm, naam) VALUES (9, 1, 'Negen')")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2", "created contact 9")
		x.exec("DELETE FROM f_rel WHERE nr = 9")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2", "deleted contact 9")
		x.exec("UPDATE f_rel SET adm = 1 WHERE nr = 2")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 9", "created contact 2")
		x.exec("UPDATE f_rel SET naam = 'Zuider' WHERE nr = 4")
		for i := range 10 { // several pages
			x.exec("INSERT INTO f_com VALUES ('n%d', 1, 1, 'n')", i)
		}
		x.exec("DELETE FROM f_com WHERE code = 'zz'")
		require.NoError(t, ones.Equals(t.Context(), patience))
		require.NoError(t, twos.Equals(t.Context(), patience))
		for _, c := range x.changed(t, two, x.cursor(t, two)) {
			t.Error("told of what another client has: ", c)
		}

		x.exec("DELETE FROM f_wijz") // which leaves no hole
		x.exec("UPDATE f_rel SET naam = 'Drie' WHERE nr = 3")
		require.NoError(t, ones.Equals(t.Context(), patience))
	})
}

// TestChangesByTableReadLittle: after the first look, and the one when all has settled, only
// what the table names is read, and what is read again is no news.
func TestChangesByTableReadLittle(t *testing.T) {
	x, _, _ := onTables(t, "sqlite", notedSheet("sqlite"), noted("sqlite")...)
	for _, r := range x.sheet.Resources {
		r.Changes.Settle = 0
	}
	f := x.followed(t, ownDatabase(t, "sqlite")(), x.sheet)
	after := x.cursor(t, one)
	read := func() (n int64) {
		all, err := f.Scans(t.Context())
		require.NoError(t, err)
		for _, s := range all {
			n += s.Records
		}
		return n
	}
	before := read()
	x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
	x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, one, after) })
	require.EqualValues(t, before+1, read())
	x.exec("UPDATE f_rel SET naam = 'Twe' WHERE nr = 2")
	x.eventually(t, []string{"updated contact 3", "updated contact 2"}, func() []string { return x.changed(t, one, after) })

	x.exec("DELETE FROM f_wijz")
	x.exec("DELETE FROM sqlite_sequence")
	x.exec("UPDATE f_rel SET naam = 'Een!' WHERE nr = 1") // with the number 1: the table has begun anew
	x.eventually(t, []string{"updated contact 3", "updated contact 2", "updated contact 1"}, func() []string { return x.changed(t, one, after) })
}

// TestChangesThatSettle: a change whose number is lower than one that was read, since its
// transaction ended later, is told; also one that was under way when all was read first.
func TestChangesThatSettle(t *testing.T) {
	x, _, _ := onTables(t, "postgres", notedSheet("postgres"), noted("postgres")...)
	early, err := x.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = early.ExecContext(t.Context(), "UPDATE f_rel SET naam = 'Early' WHERE nr = 1")
	require.NoError(t, err)
	x.exec("UPDATE f_rel SET naam = 'Twe' WHERE nr = 2") // whose number is higher
	for _, r := range x.sheet.Resources {
		r.Changes.Settle = time.Hour
	}
	db := ownDatabase(t, "sqlite")() // in PostgreSQL they would wait for the open transaction
	x.followed(t, db, x.sheet)
	after := x.cursor(t, one)
	require.NoError(t, early.Commit())
	x.eventually(t, []string{"updated contact 1"}, func() []string {
		require.NoError(t, db.Write(t.Context(), func(c sqlrecord.Conn) error { // as if the hour had passed
			_, err := c.Exec(t.Context(), "UPDATE followed SET marked_at = 0 WHERE unsettled = 1")
			return err
		}))
		return x.changed(t, one, after)
	})

	late, err := x.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = late.ExecContext(t.Context(), "UPDATE f_rel SET naam = 'Late' WHERE nr = 3")
	require.NoError(t, err)
	x.exec("UPDATE f_rel SET naam = 'Tw' WHERE nr = 2")
	x.eventually(t, []string{"updated contact 1", "updated contact 2"}, func() []string { return x.changed(t, one, after) })
	require.NoError(t, late.Commit())
	x.eventually(t, []string{"updated contact 1", "updated contact 2", "updated contact 3"}, func() []string { return x.changed(t, one, after) })
}

// TestDeletedByVersion has rows that the system marks told as deleted without a look at all
// records.
func TestDeletedByVersion(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		text := strings.Replace(fmt.Sprintf(followedSheet, engine), "    table: f_rel\n",
			"    table: f_rel\n    changes: {by: version, every: 10ms, pause: 1ms, page: 2, deleted: {column: weg, values: [1, 2]}}\n", 1)
		x, _, _ := onTables(t, engine, text, followedTables...)
		f := x.followed(t, ownDatabase(t, engine)(), x.sheet)
		contact := x.model.Resource("contact")
		require.Equal(t, backend.TellsAll, f.Tells(contact))
		after, theirs := x.cursor(t, one), x.cursor(t, two)
		now := time.Now().UnixMilli()
		x.exec("UPDATE f_rel SET naam = 'Dri', gew = %d WHERE nr = 3", now)
		x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, one, after, contact) })
		x.exec("UPDATE f_rel SET weg = nr %% 2 + 1, gew = %d WHERE nr IN (1, 2, 5)", now)
		x.eventually(t, []string{"updated contact 3", "deleted contact 1", "deleted contact 2", "deleted contact 5"}, func() []string { return x.changed(t, one, after, contact) })
		x.exec("UPDATE f_rel SET weg = 0, gew = %d WHERE nr = 2", now+1)
		x.eventually(t, []string{"updated contact 3", "deleted contact 1", "deleted contact 5", "created contact 2"}, func() []string { return x.changed(t, one, after, contact) })
		require.Empty(t, x.changed(t, two, theirs, contact))
	})
}
