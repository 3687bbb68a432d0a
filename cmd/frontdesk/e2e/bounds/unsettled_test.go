package bounds

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestPromiseThatMayHaveBeenMade: the time of a request ends while its job is committed, so
// that nobody knows whether it was. Before, it was told 503, which says that nothing was
// done.
func TestPromiseThatMayHaveBeenMade(t *testing.T) {
	t.Parallel()
	h, hooks, dsn := startHooked(t)
	token := h.Login(rig.HookedKey, "demo")
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON callback_job DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	h.take(dsn, `SELECT pg_advisory_xact_lock(1)`)
	h.Call("POST", "/backup/owner", token, hooks.Body()).Refused(t, 500, "Internal server error", "a callback")
	require.NoError(t, h.lock.Rollback(t.Context()))
}
