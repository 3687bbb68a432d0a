package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// state is all that a client has.
func state(x *fixture, r *mapping.Resource) map[int32]string {
	all := map[int32]string{}
	for _, rec := range x.all(two, r.Name) {
		all[rec.ID()] = shown(rec)
	}
	return all
}

func TestAnotherClientsRecordsDoNotExist(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		ctx := t.Context()
		for _, r := range x.model.Resources {
			if r.Name == "country" {
				continue // everyone's
			}
			before := state(x, r)
			mine := map[int32]bool{}
			for _, rec := range x.all(one, r.Name) {
				mine[rec.ID()] = true
			}
			tried := 0
			for _, theirs := range x.all(two, r.Name) {
				if mine[theirs.ID()] || tried == 10 {
					continue // the same number, of another record
				}
				tried++
				_, err := x.tryGet(one, r.Name, theirs.ID())
				require.True(t, mapping.Is(err, mapping.RecordNotFound), "%s: %v", r.Name, err)
				require.ErrorIs(t, x.Delete(ctx, one, theirs), backend.ErrNotFound, "%s: the driver itself", r.Name)
				_, err = x.Update(ctx, one, theirs, theirs)
				require.ErrorIs(t, err, backend.ErrNotFound, "%s: the driver itself", r.Name)
				byID := backend.Filter{Field: r.Field("id"), Value: theirs.Values[r.ID]}
				require.Empty(t, x.list(backend.Query{Client: one, Filters: []backend.Filter{byID}}, r.Name).Records)
			}
			require.Equal(t, before, state(x, r), r.Name)
		}
	})
}

// TestReferencesToOthersAreRefused tries to refer to records of another client
// from every field that refers to any.
func TestReferencesToOthersAreRefused(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for name, records := range newRecords(x) {
			for i := range records[0].Resource.Fields {
				f := &records[0].Resource.Fields[i]
				target := f.Target()
				if target == nil || f.Type == mapping.Array || target.Name == "country" || f.Reference == "" {
					continue
				}
				theirs := x.foreignID(target)
				if theirs == 0 {
					continue
				}
				rec := records[0].Clone()
				rec.Values[i] = mapping.IntValue(int64(theirs))
				_, err := x.tryCreate(one, rec)
				require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%s.%s: %v", name, f.Name, err)
				err = x.Write(t.Context(), func(tx backend.Tx) error { // past the rules
					stored, err := tx.Create(t.Context(), one, rec)
					if err == nil && stored.Values[i] == rec.Values[i] && target.Name != "article" && target.Name != "vehicle" {
						t.Errorf("%s.%s refers to a record of another client", name, f.Name)
					}
					return backend.ErrNotFound // undone
				})
				require.Error(t, err)
				page := x.list(backend.Query{Client: one, Filters: []backend.Filter{{Field: f, Value: rec.Values[i]}}}, name)
				require.Empty(t, page.Records, "%s by %s", name, f.Name)
			}
		}
	})
}

// foreignID is the ID of a record of the other client that the first has none of.
func (x *fixture) foreignID(r *mapping.Resource) int32 {
	mine := map[int32]bool{}
	for _, rec := range x.all(one, r.Name) {
		mine[rec.ID()] = true
	}
	for _, rec := range x.all(two, r.Name) {
		if !mine[rec.ID()] {
			return rec.ID()
		}
	}
	return 0
}
