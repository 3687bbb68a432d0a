package sqlrecord

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// ending is a context whose time is nearly over, and does not end.
type ending struct{ context.Context }

func (ending) Deadline() (time.Time, bool) { return time.Now().Add(time.Nanosecond), true }

// TestPageEndsInTime: a page of changes whose records are read one by one ends before the time of
// the request does, and the cursor leads to what comes next.
func TestPageEndsInTime(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	r := model.Resource("contact")
	told, page, read := gathering{wanted: []*mapping.Resource{r}, most: 100}, backend.ChangesPage{}, 0
	for id := range int32(40) {
		told.add([]entry{{at: spot{seq: int64(id + 1)}, resource: r, id: id + 1, kind: kindUpdated}})
	}
	page.Changes = told.changes()
	each := func(_ context.Context, _ auth.Client, _ *mapping.Resource, ids []int32, each func(mapping.Record)) error {
		for _, id := range ids {
			rec := mapping.NewRecord(r)
			rec.Values[r.ID] = mapping.IntValue(int64(id))
			each(rec)
			read++
		}
		return nil
	}
	require.NoError(t, fill(ending{t.Context()}, backend.ChangesQuery{}, &told, &page, oneByOne, each))
	require.Equal(t, oneByOne, read)
	require.Len(t, page.Changes, oneByOne)
	require.True(t, page.More)
	require.Equal(t, spot{seq: oneByOne}, told.at)
}
