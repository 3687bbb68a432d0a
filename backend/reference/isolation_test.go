package reference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestIsolation goes through every resource of the model: neither client of the
// sample data sees, finds, changes or deletes a record of the other.
func TestIsolation(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		demo, other := x.seeded(12)
		for _, r := range x.model.Resources {
			theirs := x.all(other, r.Name)
			require.NotEmpty(t, theirs, r.Name)
			mine := map[int32]bool{}
			for _, rec := range x.all(demo, r.Name) {
				mine[rec.ID()] = true
			}
			for _, rec := range theirs {
				if rec.Flag(r.IsSystem) {
					require.True(t, mine[rec.ID()], "%s: system records are everyone's", r.Name)
					continue
				}
				require.False(t, mine[rec.ID()], "%s %d is in both lists", r.Name, rec.ID())
			}
			rec := theirs[len(theirs)-1]
			_, err := x.Get(bg(), r, backend.Query{Client: demo, ID: rec.ID()})
			var found bool
			require.NoError(t, x.Write(bg(), func(tx backend.Tx) (err error) {
				found, err = tx.(backend.Prober).Exists(bg(), demo, r, rec.ID())
				return err
			}))
			if r.SystemRecords {
				require.NoError(t, err)
				require.True(t, found)
			} else {
				require.ErrorIs(t, err, backend.ErrNotFound, r.Name)
				require.False(t, found, r.Name)
			}
			patch := mapping.NewRecord(r)
			patch.Values[r.IsArchived] = mapping.IntValue(1)
			_, err = x.Update(bg(), demo, rec, patch)
			require.Error(t, err, r.Name)
			require.Error(t, x.Delete(bg(), demo, rec), r.Name)
			now, err := x.Get(bg(), r, backend.Query{Client: other, ID: rec.ID()})
			require.NoError(t, err)
			require.Equal(t, rec.Version, now.Version, r.Name)
			page, err := x.List(bg(), r, backend.Query{Client: demo, Total: true, Limit: 1, Filters: []backend.Filter{{Field: &r.Fields[r.ID], Value: mapping.IntValue(int64(rec.ID()))}}})
			require.NoError(t, err)
			require.Equal(t, r.SystemRecords, len(page.Records) == 1, r.Name)
			require.Equal(t, r.SystemRecords, page.Total == 1, r.Name)
		}
	})
}

func TestSystemRecords(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		a := x.client("A")
		countries := x.all(a, "country")
		require.Len(t, countries, 249)
		nl := x.get(a, "country", netherlands)
		require.Equal(t, "NL", nl.Get("code").Text())
		require.True(t, nl.Flag(nl.Resource.IsSystem))
		require.NotEmpty(t, x.all(a, "advertisementsite"))
		_, err := x.front.Update(bg(), a, netherlands, mapping.BodyOf(x.record("country", "name", "Holland")), backend.Write{})
		require.True(t, mapping.Is(err, mapping.SystemRecord), err)
		own := x.create(a, x.record("country", "code", "XX", "name", "Elsewhere"))
		require.Greater(t, own.ID(), int32(systemIDs), "numbers of ISO 3166-1 stay free")
	})
}
