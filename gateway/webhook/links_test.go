package webhook_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
)

func checked(t *testing.T, l *webhook.Links, query string) bool {
	t.Helper()
	id, ok, err := l.Check(t.Context(), query)
	require.NoError(t, err)
	return ok && id == "a1-b2_"
}

func signed(t *testing.T, l *webhook.Links) string {
	t.Helper()
	return must.Have(l.Sign(t.Context(), "a1-b2_"))(t)
}

func TestEveryCharacterOfALinkCounts(t *testing.T) {
	t.Parallel()
	l := webhook.NewLinks(sqliteEngine(t).open(t), newClock().Now, zaptest.NewLogger(t))
	query := signed(t, l)
	for i := range query {
		for _, with := range []string{"", "0", "1", "a", "A", "%", "+", "&", "=", ";", query[i:i+1] + query[i:i+1], strings.ToUpper(query[i : i+1])} {
			if changed := query[:i] + with + query[i+1:]; changed != query {
				_, ok, err := l.Check(t.Context(), changed)
				require.NoError(t, err)
				require.False(t, ok, changed)
			}
		}
	}
	for _, changed := range []string{"", "&" + query, query + "&", query + "&id=other", "id=other&" + query, query + " ", strings.Replace(query, "-", "%2D", 1)} {
		require.False(t, checked(t, l, changed), changed)
	}
}

// keyOf is the key that an address is signed with.
func keyOf(query string) string {
	_, after, _ := strings.Cut(query, "&key=")
	id, _, _ := strings.Cut(after, "&")
	return id
}

func TestSigningKeysRotate(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		c := newClock()
		store := e.open(t)
		l := webhook.NewLinks(store, c.Now, zaptest.NewLogger(t))
		first := keyOf(signed(t, l))
		c.Advance(24*time.Hour - time.Second)
		old := signed(t, l)
		require.Equal(t, first, keyOf(old))
		c.Advance(time.Minute)
		second := keyOf(signed(t, l))
		require.NotEqual(t, first, second)
		c.Advance(58 * time.Minute)
		require.True(t, checked(t, l, old), "a link outlives the rotation of its key")
		require.Equal(t, second, keyOf(signed(t, l)))
		c.Advance(24 * time.Hour)
		signed(t, l)
		keys := must.Have(store.SigningKeys(t.Context(), c.Now().Add(-time.Hour), time.Time{}, webhook.SigningKey{}))(t)
		require.Len(t, keys, 2, "the first is gone")
		require.Equal(t, second, keys[1].ID)
		require.Len(t, keys[0].Secret, 32)
	})
}

// An address is valid for an hour, wherever. The other instance knows no newer key than it read half a second ago.
func TestLinksHoldOnEveryInstance(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		c := newClock()
		one, other := webhook.NewLinks(e.open(t), c.Now, zaptest.NewLogger(t)), webhook.NewLinks(e.open(t), c.Now, zaptest.NewLogger(t))
		query := signed(t, one)
		require.True(t, checked(t, other, query))
		c.Advance(time.Hour - time.Millisecond)
		require.True(t, checked(t, one, query))
		c.Advance(time.Millisecond)
		require.False(t, checked(t, one, query))
		c.Advance(23*time.Hour - 500*time.Millisecond)
		signed(t, other)
		c.Advance(500 * time.Millisecond)
		require.True(t, checked(t, other, signed(t, one)))
	})
}

// TestKeysThatCannotBeReplaced: with a disk that is full for days results are handed out, also by a
// gateway that is started meanwhile, and what was signed stays valid when the key can be replaced.
func TestKeysThatCannotBeReplaced(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		c := newClock()
		store := e.open(t)
		l := webhook.NewLinks(store, c.Now, zaptest.NewLogger(t))
		first := signed(t, l)
		mend := breakKeys(t, e)
		for range 3 {
			c.Advance(30 * time.Hour)
			require.False(t, checked(t, l, first))
			require.True(t, checked(t, l, signed(t, l)))
			started := webhook.NewLinks(store, c.Now, zaptest.NewLogger(t))
			require.True(t, checked(t, started, signed(t, started)))
		}
		last := signed(t, l)
		mend()
		c.Advance(time.Minute)
		require.NotEqual(t, keyOf(last), keyOf(signed(t, l)))
		require.True(t, checked(t, l, last))
	})
}

// breakKeys has no key be kept, until it is mended.
func breakKeys(t *testing.T, e engine) (mend func()) {
	t.Helper()
	db := must.Have(e.connect())(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	do := func(statements ...string) {
		require.NoError(t, db.Write(t.Context(), func(conn sqlrecord.Conn) (err error) {
			for _, text := range statements {
				_, one := conn.Exec(t.Context(), text)
				err = errors.Join(err, one)
			}
			return err
		}))
	}
	if db.Dialect().Name == sqlrecord.Postgres().Name {
		do(`CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$`,
			`CREATE TRIGGER broken BEFORE INSERT ON signing_key EXECUTE FUNCTION full()`)
		return func() { do(`DROP TRIGGER broken ON signing_key`) }
	}
	do(`CREATE TRIGGER broken BEFORE INSERT ON signing_key BEGIN SELECT RAISE(ABORT, 'full'); END`)
	return func() { do(`DROP TRIGGER broken`) }
}

// hanging is a store whose keys cannot be read once it hangs.
type hanging struct {
	webhook.Store
	hangs   atomic.Bool
	waiting chan struct{}
}

func (h *hanging) SigningKeys(ctx context.Context, since, old time.Time, fresh webhook.SigningKey) ([]webhook.SigningKey, error) {
	if !h.hangs.Load() {
		return h.Store.SigningKeys(ctx, since, old, fresh)
	}
	h.waiting <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestKeysThatTakeLongToRead: while somebody reads the keys, others go by those that are known, and
// so does that one when its time is up.
func TestKeysThatTakeLongToRead(t *testing.T) {
	t.Parallel()
	c := newClock()
	store := &hanging{Store: sqliteEngine(t).open(t), waiting: make(chan struct{})}
	l := webhook.NewLinks(store, c.Now, zaptest.NewLogger(t))
	query := signed(t, l)
	store.hangs.Store(true)
	c.Advance(time.Minute)
	ctx, end := context.WithCancel(t.Context())
	reader := make(chan error)
	go func() {
		_, err := l.Sign(ctx, "a1-b2_")
		reader <- err
	}()
	<-store.waiting
	require.True(t, checked(t, l, query))
	end()
	require.NoError(t, <-reader)
	require.True(t, checked(t, l, signed(t, l)), "it is tried again in a minute")
	unknown, end := context.WithCancel(t.Context())
	go func() {
		<-store.waiting
		end()
	}()
	_, _, err := l.Check(unknown, strings.Replace(query, "key=", "key=x", 1))
	require.ErrorIs(t, err, context.Canceled, "another instance may have made that key")
}
