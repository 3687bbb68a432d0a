package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// TestWithEnds: hashes get their ends in whichever form they are written, and nothing else changes.
func TestWithEnds(t *testing.T) {
	const hash, other = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c", "c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"
	var digest config.Digest
	require.NoError(t, digest.UnmarshalText([]byte(hash)))
	end, err := config.ParseExpiry("2026-11-20T10:00:00Z", time.UTC)
	require.NoError(t, err)
	known := config.Known{Endpoints: func(*config.Config) ([]config.Endpoint, error) { return nil, nil }}
	for _, c := range [][2]string{
		{`key_sha256: ["HASH", OTHER] # two`, `key_sha256: [{hash: "HASH", expires: END}, OTHER] # two`},
		{`key_sha256: [OTHER, HASH]`, `key_sha256: [OTHER, {hash: HASH, expires: END}]`},
		{"key_sha256:\n      - 'HASH'   # é\n      - OTHER", "key_sha256:\n      - {hash: 'HASH', expires: END}   # é\n      - OTHER"},
		{`key_sha256: [{hash: HASH}]`, `key_sha256: [{hash: HASH, expires: END}]`},
		{`key_sha256: [{hash: HASH, expires: 2099-01-01}]`, `key_sha256: [{hash: HASH, expires: END}]`},
		{`key_sha256: [{expires: "2099-01-01", hash: HASH}, OTHER]`, `key_sha256: [{expires: END, hash: HASH}, OTHER]`},
		{"key_sha256:\n      - hash: HASH # new\n", "key_sha256:\n      - expires: END\n        hash: HASH # new\n"},
		{"key_sha256:\n      - hash: HASH\n        expires: 2099-01-01   # late", "key_sha256:\n      - hash: HASH\n        expires: END   # late"},
		{"\"key_sha256\": [\"HASH\",\n  \"OTHER\"]", "\"key_sha256\": [{hash: \"HASH\", expires: END},\n  \"OTHER\"]"},
	} {
		fill := strings.NewReplacer("HASH", hash, "OTHER", other, "END", end.String()).Replace
		text := func(hashes string) string {
			return fill("# é\nserver: {vendor: Example}\napi_keys:\n  - name: webshop\n    " + hashes + "\n    allow: []\n")
		}
		before := []config.Text{{Path: "frontdesk.yaml", Text: []byte(text(c[0]))}}
		after, err := config.WithEnds(before, map[config.Digest]config.Expiry{digest: end})
		require.NoError(t, err, c[0])
		require.Equal(t, text(c[1]), string(after[0].Text))
		require.Equal(t, text(c[0]), string(before[0].Text))
		crlf := []config.Text{{Path: "frontdesk.yaml", Text: []byte(strings.ReplaceAll(text(c[0]), "\n", "\r\n"))}}
		crlf, err = config.WithEnds(crlf, map[config.Digest]config.Expiry{digest: end})
		require.NoError(t, err, "%s, in lines of another kind", c[0])
		require.Equal(t, strings.ReplaceAll(text(c[1]), "\n", "\r\n"), string(crlf[0].Text))
		read, err := config.Read(after, known)
		require.NoError(t, err)
		require.Len(t, read.APIKeys, 1)
		for _, h := range read.APIKeys[0].Hashes {
			require.Equal(t, h.Hash == digest, h.Expires.Equal(end.Time), c[0])
		}
	}
	_, err = config.WithEnds([]config.Text{{Path: "keys.d/a.yaml", Text: []byte("api_keys:\n  - name: a\n    key_sha256: &h [\"" + hash + "\"]\n  - name: b\n    key_sha256: *h\n")}}, map[config.Digest]config.Expiry{digest: end})
	require.ErrorContains(t, err, "keys.d/a.yaml:5: this hash has to get its end by hand, expires: 2026-11-20T10:00:00Z")
}
