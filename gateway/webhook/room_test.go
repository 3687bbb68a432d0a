package webhook_test

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
)

// blob does work whose result has as many bytes as its data says, in small pieces.
func blob(_ context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
	size, err := strconv.Atoi(string(j.Work.Data))
	for left := size; left > 0 && err == nil; left -= 1000 {
		_, err = w.Write(make([]byte, min(left, 1000)))
	}
	return webhook.Content{Name: "blob", Type: "text/plain"}, err
}

func blobs(cfg *webhook.Config) { cfg.Runners["blob"], cfg.Space = blob, space }

// taken is what is taken of the space.
func taken(t *testing.T, p *process) []webhook.Taken {
	t.Helper()
	r := must.Have(p.Room(t.Context()))(t)
	return r.All
}

// takes waits until jobs take so much of the space: a change that is under way counts with
// what was before and with what will be.
func (p *process) takes(t *testing.T, want ...webhook.Taken) {
	t.Helper()
	p.store.until(t, func() bool { return slices.Equal(want, taken(t, p)) })
}

// ask has a client ask for a blob.
func (p *process) ask(t *testing.T, client int64, to *url.URL, size int) (id string, err error) {
	t.Helper()
	return p.Accept(t.Context(), owner(client), to, webhook.Work{Kind: "blob", Data: []byte(strconv.Itoa(size))})
}

// gets has a client ask for a blob, which is made and called back for.
func (p *process) gets(t *testing.T, client int64, to *url.URL, size int) webhook.Job {
	t.Helper()
	id := must.Have(p.ask(t, client, to, size))(t)
	return p.store.untilState(t, id, webhook.CalledBack)
}

// fill has a client ask for blobs, one after the other, until it is refused.
func (p *process) fill(t *testing.T, client int64, to *url.URL, size int) (ids []string) {
	t.Helper()
	for len(ids) < 1000 {
		id, err := p.ask(t, client, to, size)
		if err != nil {
			require.ErrorIs(t, err, webhook.ErrNoSpace)
			return ids
		}
		j := p.store.untilState(t, id, webhook.CalledBack)
		require.Empty(t, j.Failure, "what was promised is there")
		require.EqualValues(t, size, j.Result.Size)
		ids = append(ids, id)
	}
	t.Fatal("it never ends")
	return nil
}

// TestClientsShareTheSpace: whoever fills the space of results leaves room for others, and
// what there is no room for is not promised.
func TestClientsShareTheSpace(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		p, _, _, to := working(t, e, status(200), blobs)
		const size = space / 64
		require.Len(t, p.fill(t, 1, to, size), 48, "three quarters of all")
		require.Len(t, p.fill(t, 2, to, size), 12, "of what is left")
		require.Len(t, p.fill(t, 3, to, size), 3)
		id, err := p.ask(t, 4, to, 10)
		require.ErrorIs(t, err, webhook.ErrNoSpace, "of the same kind: so large is what is expected")
		require.Empty(t, id)
	})
}

// TestLargeResultsOfOthersKeepNobodyOut: who has no results of its own yet is not expected to need
// as much as others did.
func TestLargeResultsOfOthersKeepNobodyOut(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		p, _, _, to := working(t, e, status(200), blobs)
		for client := range int64(3) {
			require.Empty(t, p.gets(t, client, to, space/4).Failure)
		}
		require.EqualValues(t, 1000, p.gets(t, 3, to, 1000).Result.Size)
	})
}

// TestRoomIsSetAside: jobs that wait have their room, so that a crowd of them is not
// promised what is not there.
func TestRoomIsSetAside(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		to := rs.add(t, status(200))
		working, on := make(chan struct{}, 100), make(chan struct{})
		goOn := sync.OnceFunc(func() { close(on) })
		defer goOn() // the process ends only once its work has
		p := start(t, c, store, rs.caller(t), blobs, func(cfg *webhook.Config) {
			cfg.Runners["blob"] = func(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
				working <- struct{}{}
				<-on
				return blob(ctx, j, w)
			}
		})
		var ids []string
		for {
			id, err := p.ask(t, 1, to, space/16)
			if err != nil {
				require.ErrorIs(t, err, webhook.ErrNoSpace)
				break
			}
			if ids = append(ids, id); len(ids) == 1 {
				<-working // its worker sums up when it begins, and counts a job twice that comes meanwhile
			}
		}
		require.Len(t, ids, 12, "a sixteenth for each, where nothing is known of the kind")
		goOn()
		for _, id := range ids {
			store.until(t, func() bool { return !store.job(t, id).Finished.IsZero() })
			require.Empty(t, store.job(t, id).Failure)
		}
		p.takes(t, webhook.Taken{Client: 1, Kind: "blob", Stage: webhook.Kept, Jobs: 12, Bytes: space / 16 * 12, Job: firstOf(ids)})
	})
}

func firstOf(ids []string) (first string) {
	for _, id := range ids {
		if first == "" || id < first {
			first = id
		}
	}
	return first
}

// TestAResultThatOutgrowsItsRoom fails, says why, and takes nothing from others.
func TestAResultThatOutgrowsItsRoom(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		p, _, _, to := working(t, e, status(200), blobs)
		small := p.gets(t, 2, to, 100).ID
		j := p.gets(t, 1, to, space)
		require.True(t, j.NoRoom)
		require.Equal(t, webhook.ErrNoSpace.Error(), j.Failure)
		p.takes(t, webhook.Taken{Client: 2, Kind: "blob", Stage: webhook.Kept, Jobs: 1, Bytes: 100, Job: small})
		require.Equal(t, []string{small + ".1"}, entries(t, p.folder))
		require.Empty(t, p.gets(t, 1, to, space/2).Failure, "what is not too large grows beyond what was expected")
	})
}

// TestFetchedResultsGiveWay: where room is needed, a result goes an hour after its last
// address ended, and none before. That it was fetched is noted once a minute.
func TestFetchedResultsGiveWay(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		p, c, _, to := working(t, e, status(200), blobs)
		const size = space / 8
		ids := p.fill(t, 1, to, size)
		require.Len(t, ids, 6)
		collect := func(id string) error {
			_, err := p.Collect(t.Context(), owner(1), id)
			return err
		}
		for _, id := range ids[:4] {
			require.NoError(t, collect(id))
			c.Advance(time.Second)
		}
		c.Advance(webhook.SpentAfter - 5*time.Second)
		require.ErrorIs(t, must.Fail(p.ask(t, 1, to, size)), webhook.ErrNoSpace, "the addresses have not ended for long")
		require.NoError(t, collect(ids[0]), "it has another address")
		c.Advance(5 * time.Second)
		require.Len(t, entries(t, p.folder), 6, "as long as nobody needs the room they stay")

		require.Len(t, p.fill(t, 1, to, size), 3, "instead of three that are spent")
		require.Len(t, p.fill(t, 2, to, size), 1, "in the room that was left; it grows to more than it needs")
		for n, id := range ids {
			if n >= 1 && n <= 3 { // the longest ago
				require.ErrorIs(t, collect(id), webhook.ErrUnknownJob, n)
				require.ErrorContains(t, webhook.Replay(t.Context(), p.Store, id, p.Clock()), "not in this state")
			} else {
				require.NoError(t, collect(id), n)
			}
		}
		require.Len(t, entries(t, p.folder), 7)

		noted := func() time.Time { return must.Have(p.Collect(t.Context(), owner(1), ids[5]))(t).Linked }
		first := noted()
		c.Advance(59 * time.Second)
		require.Equal(t, first, noted())
		c.Advance(time.Second)
		require.Equal(t, time.Minute, noted().Sub(first))
	})
}

// TestRoomOfASmallDisk: a disk with less room than results may take is what bounds them.
func TestRoomOfASmallDisk(t *testing.T) {
	t.Parallel()
	rs, c, store := newReceivers(t), newClock(), sqliteEngine(t).open(t)
	to := rs.add(t, status(200))
	left := int64(space / 4)
	p := start(t, c, store, rs.caller(t), blobs, func(cfg *webhook.Config) { cfg.Left = func() int64 { return left } })
	require.EqualValues(t, space/16, p.gets(t, 1, to, space/16).Result.Size)
	for _, left = range []int64{1000, 0} {
		require.ErrorIs(t, must.Fail(p.ask(t, 2, to, 10)), webhook.ErrNoSpace)
	}
}

// TestTheLogTellsBeforeTheSpaceIsFull once, and who has most of it.
func TestTheLogTellsBeforeTheSpaceIsFull(t *testing.T) {
	t.Parallel()
	rs, c, store := newReceivers(t), newClock(), sqliteEngine(t).open(t)
	to := rs.add(t, status(200))
	core, logged := observer.New(zap.WarnLevel)
	p := start(t, c, store, rs.caller(t), blobs, func(cfg *webhook.Config) { cfg.Log = zap.New(core) })
	told := func() int { return logged.FilterMessageSnippet("results take most of their space").Len() }
	for range 20 {
		p.gets(t, 1, to, space/32)
	}
	require.Zero(t, told())
	p.fill(t, 1, to, space/32)
	require.Equal(t, 1, told())
}
