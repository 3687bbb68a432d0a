package several

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// lastUse is what a gateway tells of a hash, once it has noted what it knows and read what others did.
func lastUse(k *rig.Kept, sha256 string) int64 {
	k.T.Helper()
	k.Round(desk.UseEvery)
	return toldUse(k, sha256)
}

// toldUse is what the metrics of a gateway say of a hash; 0 for nothing.
func toldUse(k *rig.Kept, sha256 string) int64 {
	k.T.Helper()
	found := regexp.MustCompile(`(?m)^frontdesk_key_hash_last_used_timestamp_seconds{key="full",sha256="` + sha256 + `"} (\S+)$`).FindStringSubmatch(k.OpsText("/metrics"))
	if found == nil {
		return 0
	}
	return int64(must.Have(strconv.ParseFloat(found[1], 64))(k.T))
}

// TestLastUseOfEachHash: while a key is rotated, everybody can see which of its hashes are used, at
// whichever gateway, also after restarts.
func TestLastUseOfEachHash(t *testing.T) {
	t.Parallel()
	const fresh, late = "44444444-4444-4444-8444-444444444444", "66666666-6666-4666-8666-666666666666"
	digest := func(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }
	short := func(key string) string { return digest(key)[:8] }
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	start := func() *rig.Kept {
		return s.start(digest(rig.FullKey), strings.Join([]string{digest(rig.FullKey), digest(fresh), digest(late)}, `", "`))
	}
	one, other := start(), start()
	began := time.Now().Unix()
	require.Zero(t, lastUse(one, short(rig.FullKey)))

	token := one.Login(rig.FullKey, "demo")
	one.Call("GET", "/contact/1", token, "", "X-Request-Id", "of-the-old-one")
	one.RequireLogged(`"of-the-old-one"`, fmt.Sprintf(`"sha256":%q`, short(rig.FullKey)))
	other.Login(fresh, "demo")
	require.GreaterOrEqual(t, lastUse(one, short(rig.FullKey)), began)
	require.Zero(t, lastUse(one, short(fresh)), "the other gateway has not told it yet")
	require.GreaterOrEqual(t, lastUse(other, short(fresh)), began)
	require.GreaterOrEqual(t, lastUse(other, short(rig.FullKey)), began)
	require.GreaterOrEqual(t, lastUse(one, short(fresh)), began)

	// What another one noted later stays.
	later := time.Now().Add(time.Hour).Unix()
	const set = "UPDATE neighbour_key_use SET used_at = $1 WHERE sha256 = $2"
	require.EqualValues(t, 1, s.sql(set, later*1000, short(rig.FullKey)))
	require.Equal(t, later, lastUse(one, short(rig.FullKey)))
	one.Call("GET", "/contact/1", token, "")
	require.Equal(t, later, toldUse(one, short(rig.FullKey)))
	require.Equal(t, later, lastUse(one, short(rig.FullKey)))
	require.EqualValues(t, 1, s.sql(set+" AND used_at = $1", later*1000, short(rig.FullKey)))

	// A stop notes what was not noted yet, and a start knows it.
	s.sql("DELETE FROM neighbour_key_use")
	one.Shutdown()
	require.EqualValues(t, 0, s.sql("UPDATE neighbour_key_use SET used_at = used_at"), "what was noted is not noted again")
	other.Login(late, "demo")
	other.Shutdown()
	require.EqualValues(t, 1, s.sql("UPDATE neighbour_key_use SET used_at = used_at"))
	one = start()
	require.GreaterOrEqual(t, lastUse(one, short(late)), began)
	require.Zero(t, lastUse(one, short(fresh)))
	code, list, stderr := rig.Command(t, "", "key", "list", "--config", one.File)
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
	require.Regexp(t, `(?m)^full +never +`+short(rig.FullKey)+`, `+short(fresh)+`, `+short(late)+` +-, -, \d{4}-\d\d-\d\d \d\d:\d\d \S+`, list)

	// A hash that is gone is told no more, and forgotten a day after it was used.
	one.Write(s.text(digest(rig.FullKey), digest(fresh)))
	one.HangUp()
	require.Zero(t, lastUse(one, short(late)))
	require.EqualValues(t, 1, s.sql("UPDATE neighbour_key_use SET used_at = used_at - 86400000"))
	lastUse(one, short(late))
	require.Zero(t, s.sql("UPDATE neighbour_key_use SET used_at = used_at"))
}

// TestKeyChangeNamesTheGateways: a command that changes a key names the other gateways of the service.
func TestKeyChangeNamesTheGateways(t *testing.T) {
	t.Parallel()
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	k := &rig.Kept{Desk: rig.Desk{T: t, Ops: rig.FreeAddress(t)}, File: file}
	k.Write("include: [\"keys.d/*.yaml\"]\n" + s.text())
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(file), "keys.d"), 0o700))
	change := func(args ...string) string {
		code, out, stderr := rig.Command(t, "", append(args, "--config", file)...)
		require.Zero(t, code, stderr)
		require.Empty(t, stderr)
		return out
	}
	s.start()
	require.NotContains(t, change("key", "new", "leaked"), "share the database")
	s.start()
	require.Regexp(t, `2 gateways share the database: 127\.0\.0\.1:\d+ of \S+, 127\.0\.0\.1:\d+ of \S+\. All refuse what has ended by this;`, change("key", "revoke", "leaked"))
}

// TestKeyListWithoutDatabase: the list does without, and says so.
func TestKeyListWithoutDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	k := &rig.Kept{Desk: rig.Desk{T: t, Ops: rig.FreeAddress(t)}, File: file}
	k.Write(rig.KeptConfig(t, "postgres://frontdesk:s3cret@"+rig.FreeAddress(t)+"/frontdesk", "", rig.KeptKey(`"GET /contact"`)))
	code, list, stderr := rig.Command(t, "", "key", "list", "--config", file)
	require.Zero(t, code)
	require.Regexp(t, `(?m)^full +never +e8d95748 +-`, list)
	require.Contains(t, stderr, "When they were used last is not known: ")
	require.Contains(t, stderr, "connection refused")
	require.NotContains(t, stderr, "s3cret")
}
