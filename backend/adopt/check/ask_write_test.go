package check

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/mapping"
)

// meddling is a database that makes something else of updates.
type meddling struct {
	Database
	with func(patch mapping.Record)
}

func (d meddling) Write(ctx context.Context, f func(backend.Tx) error) error {
	return d.Database.Write(ctx, func(tx backend.Tx) error { return f(meddlingTx{tx, d.with}) })
}

type meddlingTx struct {
	backend.Tx
	with func(patch mapping.Record)
}

func (tx meddlingTx) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	patch = patch.Clone()
	tx.with(patch)
	return tx.Tx.Update(ctx, client, before, patch)
}

// TestWrittenToADatabase: what a trigger makes of what is sent, what cannot be written at
// all, and what is lost beside, is told of; nothing is left, and no other client is touched.
func TestWrittenToADatabase(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	run := func(statements ...string) { execute(t, db, statements...) }
	run("CREATE TABLE w_contact (id int PRIMARY KEY, adm int NOT NULL, name varchar(100) NOT NULL, first varchar(50), memo text, KEY (adm, id))",
		"INSERT INTO w_contact VALUES (1, 1, 'a', 'x', 'm'), (2, 1, 'b', 'y', 'n'), (3, 7, 'c', 'z', 'o')")
	check := func(front func(Database) Database) *Report {
		o := loaded(t, sheetFile(t, "written"), dsn).through(front)
		o.Write = auth.Client{ID: 1}
		return reported(t, o)
	}
	asIs := func(d Database) Database { return d }
	sum := func() (text string) {
		require.NoError(t, db.QueryRow("SELECT GROUP_CONCAT(CONCAT_WS(',', id, adm, name, first, memo) ORDER BY id SEPARATOR ';') FROM w_contact").Scan(&text))
		return text
	}
	report := check(asIs)
	require.Zero(t, report.Count(Error), words(t, report))
	require.NotContains(t, words(t, report), "was refused")
	require.Equal(t, "1,1,a,x,m;2,1,b,y,n;3,7,c,z,o", sum())

	report = check(func(d Database) Database {
		return meddling{d, func(patch mapping.Record) {
			if !patch.Get("note").IsSet() && patch.Get("name").IsSet() {
				patch.Set("note", mapping.NullValue())
			}
		}}
	})
	require.Len(t, report.has("write.beside", "resources.contact.fields.name"), 1, words(t, report))
	run("UPDATE w_contact SET memo = 'm'", "CREATE TRIGGER w_first BEFORE INSERT ON w_contact FOR EACH ROW SET NEW.first = 'set'")
	report = check(asIs)
	require.Len(t, report.has("write.lost", "resources.contact.fields.first_name"), 1, words(t, report))
	run("DROP TRIGGER w_first", "CREATE TRIGGER w_none BEFORE INSERT ON w_contact FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'")
	report = check(asIs)
	require.Len(t, report.has("write.create", "resources.contact"), 1, words(t, report))
	require.Equal(t, "1,1,a,x,m;2,1,b,y,m;3,7,c,z,m", sum())
}
