package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryRecordCanBeRead(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for _, r := range x.model.Resources {
			records := x.all(one, r.Name)
			require.NotEmpty(t, records, r.Name)
			for _, rec := range records {
				got := x.get(one, r.Name, rec.ID())
				require.Equal(t, rec.ID(), got.ID())
			}
			t.Log(r.Name, len(records), shown(records[0]))
		}
	})
}
