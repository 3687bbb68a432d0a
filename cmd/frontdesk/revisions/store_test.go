package revisions

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// TestStoreIsBounded: the oldest give way, of the refused ones more than a few before all others;
// and what is damaged hides nothing else.
func TestStoreIsBounded(t *testing.T) {
	s := Store(filepath.Join(t.TempDir(), "configs"))
	texts := []config.Text{{Path: "/etc/frontdesk.yaml", Text: []byte("# é\nserver: {}\n")}}
	var all []Revision
	for n := 1; n <= 3*Most; n++ {
		r := Revision{N: n, At: time.Unix(int64(n), 0).UTC(), Refused: n > 10}
		all = Prune(append(all, r))
		given := texts
		if r.Refused {
			given = nil
		}
		require.NoError(t, s.Put(r, given))
		dropped, err := s.Keep(all)
		require.NoError(t, err)
		require.Empty(t, dropped)
	}
	kept, err := s.List()
	require.NoError(t, err)
	require.Len(t, kept, 10+MostRefused)
	require.Equal(t, 1, kept[0].N)
	require.True(t, kept[0].Texts)
	require.Equal(t, 3*Most-MostRefused+1, kept[10].N)
	read, err := s.Texts(7)
	require.NoError(t, err)
	require.Equal(t, texts, read)

	for n := 3*Most + 1; n <= 5*Most; n++ {
		all = Prune(append(all, Revision{N: n}))
	}
	require.Len(t, all, Most)
	require.Equal(t, 4*Most+1, all[0].N)
	_, err = s.Keep(all)
	require.NoError(t, err)
	_, err = s.Texts(7)
	require.ErrorContains(t, err, "the texts of configuration 7 are not kept")

	require.NoError(t, s.Put(Revision{N: 8}, texts))
	require.NoError(t, os.WriteFile(filepath.Join(string(s), "000009.json"), []byte("{"), 0o600))
	kept, err = s.List()
	require.ErrorContains(t, err, "000009.json")
	require.Len(t, kept, 1)
}
