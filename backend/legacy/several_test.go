package legacy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestSeveralShareATransaction: what is refused leaves the others as they are, also where
// the database finds it when the transaction ends; and under a key all is done once.
func TestSeveralShareATransaction(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *fixture) {
		article := newRecords(x)["article"][0]
		r := article.Resource
		require.Equal(t, backend.MostTogether, x.front.Together(r, mapping.OpCreate, false))
		once := x.front.Together(r, mapping.OpCreate, true) > 1
		require.Equal(t, x.answers != "", once, "the gateway's own store takes a key once")
		late := x.engine == "postgres"
		if late {
			_, err := x.db.ExecContext(t.Context(), `ALTER TABLE "ART" DROP CONSTRAINT IF EXISTS "ART_OMS", ADD CONSTRAINT "ART_OMS" EXCLUDE ("OMS" WITH =) WHERE ("OMS" LIKE 'late%') DEFERRABLE INITIALLY DEFERRED`)
			require.NoError(t, err)
		}
		var bodies []*mapping.Body
		for i, description := range []string{"one", "late", "three", "four", "late", "six"} {
			rec := article.Clone()
			rec.Set("number", mapping.TextValue("9"+x.answers+string(rune('a'+i))))
			if i == 3 {
				rec.Set("number", mapping.TextValue("9"+x.answers+"a")) // that of the first
			}
			rec.Set("description", mapping.TextValue(description+x.answers))
			rec.Set("ean", mapping.NullValue())
			bodies = append(bodies, mapping.BodyOf(rec))
		}
		run := func() (done []int32, recalled int) {
			s := &backend.Several{Client: one, Resource: r}
			if once {
				s.Idempotency = &backend.Idempotency{Key: "several", Sum: [32]byte{1}}
			}
			for _, body := range bodies {
				s.Items = append(s.Items, &backend.Item{Body: body})
			}
			s.Answer = func() []byte {
				var ids []int32
				for _, item := range s.Items {
					ids = append(ids, item.Written)
				}
				data, err := json.Marshal(ids)
				require.NoError(t, err)
				return data
			}
			s.Recalled = func(stored []byte) error {
				var ids []int32
				require.NoError(t, json.Unmarshal(stored, &ids))
				for i, id := range ids {
					s.Items[i].Done, s.Items[i].Written = s.Items[i].Done || id != 0, id
					recalled++
				}
				return nil
			}
			require.NoError(t, x.front.WriteSeveral(t.Context(), s))
			for _, item := range s.Items {
				require.True(t, item.Done)
				done = append(done, item.Written)
			}
			return done, recalled
		}
		before := len(x.all(one, "article"))
		done, _ := run()
		written := 0
		for i, id := range done {
			refused := i == 3 || i == 4 && late
			require.Equal(t, refused, id == 0, "%d of %v", i, done)
			if !refused {
				written++
			}
		}
		require.Len(t, x.all(one, "article"), before+written)
		if !once {
			return
		}
		again, recalled := run()
		require.NotZero(t, recalled)
		require.Equal(t, done, again)
		require.Len(t, x.all(one, "article"), before+written)
	})
}
