package legacy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// tables for answers, as a vendor would make them.
var answerTables = map[string]string{
	"mariadb":  "CREATE TABLE FDANTW (client_id INT NOT NULL, idem_key VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, request_sum CHAR(64) NOT NULL, answer LONGTEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (client_id, idem_key)) CHARACTER SET utf8mb4",
	"postgres": `CREATE TABLE "FDANTW" (client_id int NOT NULL, idem_key varchar(255) NOT NULL, request_sum char(64) NOT NULL, answer text NOT NULL, created_at bigint NOT NULL, PRIMARY KEY (client_id, idem_key))`,
	"sqlite":   "CREATE TABLE FDANTW (client_id INT NOT NULL, idem_key VARCHAR(255) NOT NULL, request_sum CHAR(64) NOT NULL, answer TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (client_id, idem_key))",
}

const answersSheet = `format: 2
source: {sql: {engine: ENGINE, dsn: "${DSN}"IDEMPOTENCY}}
rules: backend
keep: keep.db
client: adm
resources:
  contact: {table: rel, key: {columns: id, generated: max+1},
    fields: {kind: {constant: person}, name: {column: naam, required: true}, company_number: kvk}}
`

// onBothMemories runs f with answers kept in the id store, and in a table.
func onBothMemories(t *testing.T, f func(t *testing.T, x *tables)) {
	eachEngine(t, func(t *testing.T, engine string) {
		for name, source := range map[string]string{"keep": "", "table": ", idempotency: FDANTW"} {
			t.Run(name, func(t *testing.T) {
				f(t, onTables(t, engine, strings.Replace(answersSheet, "IDEMPOTENCY", source, 1), answerTables[engine],
					"CREATE TABLE rel (id integer NOT NULL PRIMARY KEY, adm integer NOT NULL, naam varchar(20) NOT NULL, kvk varchar(8) UNIQUE)"))
			})
		}
	})
}

// under creates a contact under an idempotency key.
func (x *tables) under(client auth.Client, once *backend.Idempotency, name, number string) error {
	_, err := x.front.Create(x.t.Context(), client, mapping.BodyOf(x.record("contact", "name", name, "company_number", number)), backend.Write{Idempotency: once})
	return err
}

func TestIdempotencyKeys(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *tables) {
		once := &backend.Idempotency{Key: "k1", Sum: [32]byte{1}, Answer: func(rec mapping.Record) []byte { return []byte(rec.Get("name").Text() + "é") }}
		require.NoError(t, x.under(one, once, "A", "null"))
		var replay *backend.Replay
		require.ErrorAs(t, x.under(one, once, "A", "null"), &replay)
		require.Equal(t, "Aé", string(replay.Answer))
		require.Len(t, x.list(one, "contact"), 1)

		once.Sum = [32]byte{2}
		require.True(t, mapping.Is(x.under(one, once, "A", "null"), mapping.IdempotencyReused))
		require.NoError(t, x.under(two, once, "B", "1"), "another client's key is another key")

		// What did not happen leaves the key free.
		once.Key = "k2"
		err := x.under(one, once, "C", "1")
		require.True(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)
		require.NoError(t, x.under(one, once, "C", "2"))

		x.clock.Advance(backend.StoredAnswerLife + 1)
		once.Key, once.Sum = "k1", [32]byte{1}
		require.NoError(t, x.under(one, once, "D", "null"), "forgotten after a day")
	})
}

// The answer of a job outlives the weekend on which nobody started frontdesk.
func TestAnAnswerMayBeKeptForLonger(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *tables) {
		const life = 90 * 24 * time.Hour
		once := &backend.Idempotency{Key: "job", Life: life, Answer: func(mapping.Record) []byte { return []byte("done") }}
		require.NoError(t, x.under(one, once, "A", "null"))
		x.clock.Advance(life - time.Millisecond)
		var replay *backend.Replay
		require.ErrorAs(t, x.under(one, once, "A", "null"), &replay)
		x.clock.Advance(time.Millisecond)
		require.NoError(t, x.under(one, once, "A", "null"))
	})
}

func TestAnIdempotencyKeyInUse(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *tables) {
		if x.engine == "sqlite" {
			return // whoever is second waits until the first has ended
		}
		undone := errors.New("undone")
		err := x.Write(t.Context(), func(tx backend.Tx) error {
			_, err := tx.Recall(t.Context(), one, "busy")
			require.NoError(t, err)
			if x.answers == "" { // two that are under way at once: the first to commit has it
				_, err = x.Recall(t.Context(), one, "busy")
				require.NoError(t, err)
				require.NoError(t, x.ids.Begin(t.Context(), one, "busy"))
				return nil
			}
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			return undone
		})
		if x.answers == "" {
			require.ErrorIs(t, err, backend.ErrStale)
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			require.NoError(t, x.ids.Abandon(t.Context(), one, "busy"))
		} else {
			require.ErrorIs(t, err, undone)
		}
		memo, err := x.Recall(t.Context(), one, "busy")
		require.NoError(t, err)
		require.Nil(t, memo)
	})
}

// A transaction whose time is up is not committed, and its key is given back.
func TestAKeyThatIsTakenTooLate(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, strings.Replace(answersSheet, "IDEMPOTENCY", "", 1), "CREATE TABLE rel (id integer NOT NULL PRIMARY KEY, adm integer NOT NULL, naam varchar(20) NOT NULL, kvk varchar(8))")
		ctx, cancel := context.WithCancel(t.Context())
		err := x.Write(ctx, func(tx backend.Tx) error {
			_, err := tx.Recall(ctx, one, "late")
			require.NoError(t, err)
			_, err = tx.Create(ctx, one, x.record("contact", "name", "A"))
			require.NoError(t, err)
			cancel()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, x.list(one, "contact"))
		memo, err := x.Recall(t.Context(), one, "late")
		require.NoError(t, err)
		require.Nil(t, memo)
	})
}
