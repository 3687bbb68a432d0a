package ledger

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
)

// openActs opens the tables in a database of the test's.
func openActs(t *testing.T) *Ledger {
	t.Helper()
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "acts.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	l, err := Open(t.Context(), db)
	require.NoError(t, err)
	return l
}

// meeting is a database whose reader goes on when all have read.
type meeting struct {
	sqlrecord.DB
	all *sync.WaitGroup
}

func (m meeting) Read(ctx context.Context, f func(sqlrecord.Conn) error) error {
	err := m.DB.Read(ctx, f)
	m.all.Done()
	m.all.Wait()
	return err
}

// told are the acts that two gateways take which look at the same moment, as the outcome of each.
func told(t *testing.T, l *Ledger, now time.Time) (outcomes []string) {
	t.Helper()
	var mu sync.Mutex
	var looking, have sync.WaitGroup
	have.Add(2)
	for range 2 {
		looking.Go(func() {
			taken, err := (&Ledger{db: meeting{l.db, &have}}).Take(t.Context(), now)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			for _, a := range taken {
				outcomes = append(outcomes, a.Whom+" "+string(a.Outcome))
			}
		})
	}
	looking.Wait()
	return outcomes
}

// TestActsAreToldOnce: an act is told when it has ended, or when nobody says any more that it
// is under way, each time by one gateway.
func TestActsAreToldOnce(t *testing.T) {
	l, now := openActs(t), time.Now()
	never := func(err error) { t.Error(err) }
	require.NoError(t, l.Do(t.Context(), Act{What: "user block", Whom: "jan"}, never, func() error { return nil }))
	broken := errors.New("it broke")
	require.ErrorIs(t, l.Do(t.Context(), Act{What: "backup", Whom: "garage"}, never, func() error {
		require.ElementsMatch(t, []string{"jan done"}, told(t, l, now), "the backup is under way")
		return broken
	}), broken)
	require.Equal(t, []string{"garage failed"}, told(t, l, now))
	require.Empty(t, told(t, l, now.Add(time.Hour)))

	killed := Act{ID: "killed", What: "restore", Whom: "client"}
	require.NoError(t, l.begin(t.Context(), killed, now))
	require.Empty(t, told(t, l, now.Add(lease)))
	require.NoError(t, l.renew(t.Context(), killed.ID, now.Add(lease)))
	require.Empty(t, told(t, l, now.Add(2*lease)))
	later := now.Add(2*lease + time.Second)
	require.Equal(t, []string{"client cut off"}, told(t, l, later))
	require.Empty(t, told(t, l, later))
	listed, err := l.Acts(t.Context(), ActFilter{What: "RESTORE"}, later)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, CutOff, listed[0].Outcome)
	require.Zero(t, listed[0].Ended)

	killed.Outcome = Done // it could only not say so in time
	require.NoError(t, l.end(t.Context(), killed, later))
	require.Equal(t, []string{"client done"}, told(t, l, later))
	require.Empty(t, told(t, l, later))
}

// TestActsGoOnWithoutTheWriter: an act that holds the only writer of a SQLite file for minutes, so
// that it cannot say that it goes on, is under way.
func TestActsGoOnWithoutTheWriter(t *testing.T) {
	l := openActs(t)
	var listed []Act
	require.NoError(t, l.Do(t.Context(), Act{What: "restore", Whom: "client"}, func(err error) { t.Error(err) }, func() error {
		return l.db.Write(t.Context(), func(sqlrecord.Conn) (err error) {
			listed, err = l.Acts(t.Context(), ActFilter{}, time.Now().Add(15*time.Minute))
			return err
		})
	}))
	require.Len(t, listed, 1)
	require.Equal(t, UnderWay, listed[0].Outcome)
	require.Equal(t, []string{"client done"}, told(t, l, time.Now()))
}

// interrupted is a database where something happens after each read.
type interrupted struct {
	sqlrecord.DB
	by func()
}

func (i interrupted) Read(ctx context.Context, f func(sqlrecord.Conn) error) error {
	defer i.by()
	return i.DB.Read(ctx, f)
}

// TestActsAreToldAsTheyAre: an act that says that it goes on, or ends, while a gateway takes it for
// cut off is not told as cut off.
func TestActsAreToldAsTheyAre(t *testing.T) {
	l, now := openActs(t), time.Now()
	a, late := Act{ID: "late", What: "backup", Whom: "garage", Outcome: Done}, now.Add(lease+time.Second)
	require.NoError(t, l.begin(t.Context(), a, now))
	during := func(by func() error) []Act {
		t.Helper()
		taken, err := (&Ledger{db: interrupted{l.db, func() { require.NoError(t, by()) }}}).Take(t.Context(), late)
		require.NoError(t, err)
		return taken
	}
	require.Empty(t, during(func() error { return l.renew(t.Context(), a.ID, late) }))
	late = late.Add(lease + time.Second)
	require.Empty(t, during(func() error { return l.end(t.Context(), a, late) }))
	require.Equal(t, []string{"garage done"}, told(t, l, late))
}

// TestActsGiveWay: what cannot be kept is done all the same, and lost is told why.
func TestActsGiveWay(t *testing.T) {
	l := openActs(t)
	require.NoError(t, l.db.Write(t.Context(), func(c sqlrecord.Conn) error {
		_, err := c.Exec(t.Context(), `DROP TABLE ledger_act`)
		return err
	}))
	var lost, done int
	require.NoError(t, l.Do(t.Context(), Act{What: "user block", Whom: "jan"}, func(error) { lost++ }, func() error {
		done++
		return nil
	}))
	require.Equal(t, [2]int{1, 1}, [2]int{lost, done})
}

// TestActsEndForWhoLeaves: an act that Ctrl-C breaks off has failed.
func TestActsEndForWhoLeaves(t *testing.T) {
	l := openActs(t)
	ctx, leave := context.WithCancel(t.Context())
	err := l.Do(ctx, Act{What: "backup", Whom: "garage"}, func(err error) { t.Error(err) }, func() error {
		leave()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"garage failed"}, told(t, l, time.Now()))
}

// TestActsList: the list is narrowed by time, name and who, literally, bounded, and forgets.
func TestActsList(t *testing.T) {
	l, now := openActs(t), time.UnixMilli(1764000000000).UTC()
	for i, a := range []Act{
		{What: "user block", Whom: "user a", Who: "root (sudo of Jan)"},
		{What: "user add", Whom: "user b\x00\xff", Who: "api_key 100%_x"},
		{What: "backup", Whom: strings.Repeat("é", 1000), Who: "root"},
	} {
		a.At = now.Add(time.Duration(i) * time.Hour)
		a.Ended, a.Outcome = a.At, Done
		require.NoError(t, l.Keep(t.Context(), a))
	}
	require.Empty(t, told(t, l, now.Add(time.Hour)), "the audit log has what is kept so")
	list := func(f ActFilter) (whats []string) {
		found, err := l.Acts(t.Context(), f, now)
		require.NoError(t, err)
		for _, a := range found {
			whats = append(whats, a.What)
		}
		return whats
	}
	require.Equal(t, []string{"backup", "user add", "user block"}, list(ActFilter{}))
	require.Equal(t, []string{"backup"}, list(ActFilter{Limit: 1}))
	require.Equal(t, []string{"backup", "user add"}, list(ActFilter{Since: now.Add(time.Hour)}))
	require.Equal(t, []string{"user add", "user block"}, list(ActFilter{What: "User"}))
	require.Equal(t, []string{"user block"}, list(ActFilter{Who: "jan"}))
	require.Equal(t, []string{"user add"}, list(ActFilter{Who: "0%_"}))
	found, err := l.Acts(t.Context(), ActFilter{}, now)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("é", wordsMax-1)+"…", found[0].Whom)
	require.Equal(t, "user b", found[1].Whom)
	more, err := l.ForgetActs(t.Context(), now.Add(time.Hour), 2)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []string{"backup", "user add"}, list(ActFilter{}))
}
