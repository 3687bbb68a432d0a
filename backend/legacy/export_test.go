package legacy

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

func TestExport(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		var file bytes.Buffer
		m, err := x.front.Export(t.Context(), one, &file)
		require.NoError(t, err)
		z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		texts := map[string][]byte{}
		for _, f := range z.File {
			r, err := f.Open()
			require.NoError(t, err)
			texts[f.Name], err = io.ReadAll(r)
			require.NoError(t, err)
		}
		var told backend.Manifest
		require.NoError(t, json.Unmarshal(texts["manifest.json"], &told))
		require.Equal(t, m, told)
		require.Len(t, texts, len(m.Parts)+1)
		for _, p := range m.Parts {
			text := texts[p.Resource+".ndjson"]
			sum := sha256.Sum256(text)
			require.Equal(t, p.SHA256, hex.EncodeToString(sum[:]))
			require.EqualValues(t, p.Count, bytes.Count(text, []byte("\n")))
			require.Len(t, x.all(one, p.Resource), int(p.Count), p.Resource)
			require.NotEqual(t, "country", p.Resource, "system records are nobody's own")
		}
		require.Greater(t, m.Records(), int64(500))
	})
}
