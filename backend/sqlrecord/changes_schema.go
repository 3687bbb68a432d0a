package sqlrecord

import (
	"fmt"
	"strconv"

	"github.com/pressly/goose/v3"

	"frontdesk/mapping"
)

// Triggers of the records' tables write each change of a record into changeTable, in the
// transaction of the change. So no code that writes records can forget to: neither for the
// indirect effects of a write, nor in a restore.
const (
	changeTable = "record_change"
	// changeLogTable has one row: the secret that seals cursors, the database that it is for,
	// and whether the current transaction notes no changes (quiet).
	changeLogTable = "record_change_log"
)

// The kinds of changes, as the table has them.
const (
	kindCreated = 1
	kindUpdated = 2
	kindDeleted = 3
)

// changeTables returns the statements that make the tables of changes if they do not exist.
func (s schema) changeTables() []string {
	log := "CREATE TABLE IF NOT EXISTS " + changeLogTable + " (quiet " + s.d.BigInt + " NOT NULL, secret " + s.bytes() + ", place " + s.textKey() + ")" + s.d.TableOptions
	row := "INSERT INTO " + changeLogTable + " (quiet) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM " + changeLogTable + ")"
	if s.d.sqlite {
		return []string{
			"CREATE TABLE IF NOT EXISTS " + changeTable + " (seq INTEGER PRIMARY KEY, client_id INTEGER NOT NULL, resource TEXT NOT NULL, " +
				"id INTEGER NOT NULL, kind INTEGER NOT NULL, at INTEGER NOT NULL) STRICT",
			"CREATE INDEX IF NOT EXISTS " + changeTable + "_client_idx ON " + changeTable + " (client_id)",
			log, row,
		}
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + changeTable + " (client_id bigint NOT NULL, tx bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint, " +
			"seq bigint GENERATED ALWAYS AS IDENTITY, resource text COLLATE \"C\" NOT NULL, id integer NOT NULL, kind integer NOT NULL, at bigint NOT NULL, " +
			"PRIMARY KEY (client_id, tx, seq))",
		"CREATE INDEX IF NOT EXISTS " + changeTable + "_at_idx ON " + changeTable + " USING brin (at)",
		log, row, changeFunction,
	}
}

// NotesMigration makes the tables that Note writes into, as the migration of that number.
func NotesMigration(d *Dialect, number int64) *goose.Migration {
	return goose.NewGoMigration(number, inOne(schema{d: d}.changeTables()...), nil)
}

func (s schema) bytes() string { return s.d.columnType(&mapping.Field{Type: mapping.Bytea}) }

// notQuiet is the condition that the changes of the current transaction are noted.
const notQuiet = "coalesce((SELECT quiet FROM " + changeLogTable + "), 0) = 0"

var changeFunction = fmt.Sprintf(`CREATE OR REPLACE FUNCTION record_changed() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE
		rec record := NEW;
		what integer := %d;
	BEGIN
		IF TG_OP = 'DELETE' THEN
			rec := OLD;
			what := %d;
		ELSIF TG_OP = 'UPDATE' THEN
			IF NEW.row_version = OLD.row_version THEN
				RETURN NULL;
			END IF;
			what := %d;
		END IF;
		INSERT INTO %s (client_id, resource, id, kind, at) SELECT rec.client_id, TG_TABLE_NAME, rec.id, what, %s WHERE %s;
		RETURN NULL;
	END $$`, kindCreated, kindDeleted, kindUpdated, changeTable, presentMillis, notQuiet)

// changeTriggers returns the statements that make the triggers of a resource's table. They ignore an
// update without a new version, which belongs to another that has one.
func (s schema) changeTriggers(r *mapping.Resource) []string {
	table := s.d.Quote(r.Name)
	if !s.d.sqlite {
		return []string{"CREATE TRIGGER " + s.changeTrigger(r) + " AFTER INSERT OR DELETE OR UPDATE OF " + versionColumn + " ON " + table +
			" FOR EACH ROW EXECUTE FUNCTION record_changed()"}
	}
	on := func(kind int, name, event, row string) string {
		return "CREATE TRIGGER " + s.name(r.Name, "change", name) + " AFTER " + event + " BEGIN INSERT INTO " + changeTable +
			" (client_id, resource, id, kind, at) SELECT " + row + "." + clientColumn + ", '" + r.Name + "', " + row + ".id, " + strconv.Itoa(kind) + ", " +
			sqliteClock + " WHERE " + notQuiet + "; END"
	}
	return []string{
		on(kindCreated, "created", "INSERT ON "+table, "NEW"),
		on(kindUpdated, "updated", "UPDATE OF "+versionColumn+" ON "+table+" WHEN NEW."+versionColumn+" <> OLD."+versionColumn, "NEW"),
		on(kindDeleted, "deleted", "DELETE ON "+table, "OLD"),
	}
}

// changeTrigger is the name of the only trigger that a table has in PostgreSQL.
func (s schema) changeTrigger(r *mapping.Resource) string { return s.name(r.Name, "change") }
