package sqlrecord

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// ending is a context whose time is nearly over, and does not end.
type ending struct{ context.Context }

func (ending) Deadline() (time.Time, bool) { return time.Now().Add(time.Nanosecond), true }

// filling is a page of changes of contacts 1 to 40 whose records are read one by one.
func filling(t *testing.T, ctx context.Context, read func(id int32) error) (told gathering, page backend.ChangesPage, err error) {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	r := model.Resource("contact")
	told = gathering{wanted: []*mapping.Resource{r}, most: 100}
	for id := range int32(40) {
		told.add([]entry{{at: spot{seq: int64(id + 1)}, resource: r, id: id + 1, kind: kindUpdated}})
	}
	page.Changes = told.changes()
	each := func(_ context.Context, _ auth.Client, _ *mapping.Resource, ids []int32, each func(mapping.Record)) error {
		for _, id := range ids {
			if err := read(id); err != nil {
				return err
			}
			rec := mapping.NewRecord(r)
			rec.Values[r.ID] = mapping.IntValue(int64(id))
			each(rec)
		}
		return nil
	}
	err = fill(ctx, backend.ChangesQuery{}, &told, &page, oneByOne, each)
	return told, page, err
}

// TestPageEndsInTime: a page of changes whose records are read one by one ends before the time of
// the request does, and the cursor leads to what comes next.
func TestPageEndsInTime(t *testing.T) {
	read := 0
	told, page, err := filling(t, ending{t.Context()}, func(int32) error {
		read++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, oneByOne, read)
	require.Len(t, page.Changes, oneByOne)
	require.True(t, page.More)
	require.Equal(t, spot{seq: oneByOne}, told.at)
}

// TestPageOfASlowSystem: a page ends in time also where the first few records take all of it.
func TestPageOfASlowSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, page, err := filling(t, ctx, func(int32) error { return auth.Sleep(ctx, 100*time.Millisecond) })
		require.NoError(t, err)
		require.NotEmpty(t, page.Changes)
		require.Less(t, len(page.Changes), 10)
		require.True(t, page.More)
	})
}

// TestPageEndsBeforeWhatCannotBeRead: what comes before a record that cannot be read is told. A
// page that would begin with that one fails.
func TestPageEndsBeforeWhatCannotBeRead(t *testing.T) {
	for bad, want := range map[int32]int{1: 0, 3: 2} {
		told, page, err := filling(t, t.Context(), func(id int32) error {
			if id == bad {
				return backend.ErrUnexpected
			}
			return nil
		})
		if want == 0 {
			require.ErrorIs(t, err, backend.ErrUnexpected)
			continue
		}
		require.NoError(t, err)
		require.Len(t, page.Changes, want)
		require.True(t, page.More)
		require.Equal(t, spot{seq: int64(want)}, told.at)
	}
}
