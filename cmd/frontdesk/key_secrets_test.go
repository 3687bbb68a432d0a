package main

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestKeyEditsKeepSecrets edits api_keys by the commands, beside a desk that serves: but for
// the lines that a command is about, no byte of the files changes, least of all of
// secrets; who had a key keeps it, and callbacks are signed as before.
func TestKeyEditsKeepSecrets(t *testing.T) {
	t.Setenv("HOOK_SECRET", "whsec_"+base64.StdEncoding.EncodeToString([]byte("a secret that the environment has")))
	h, options := rig.NewHooks(t, nil)
	odd := []string{`"${HOOK_SECRET}"`, `'a: "secret" # no comment $${HOOK_SECRET}'`, `"tab\tand \u00e9 \\ and $$ "`, fmt.Sprintf("%q", rig.RawSecret)}
	keys := strings.Replace(options.Keys, fmt.Sprintf("%q, %q]", rig.EncodedSecret, rig.RawSecret), fmt.Sprintf("%q, %s]   # %s", rig.EncodedSecret, odd[3], "rotated in May"), 1) +
		rig.KeyConfig("odd", "33333333-3333-4333-8333-333333333333", "    webhook_secret: ["+strings.Join(odd[:3], ",  ")+"]\n    allow: [\"GET /order\"]\n")
	dsn := rig.Engines[0].DSN(t)
	text := strings.Replace(rig.KeptConfig(t, dsn, "", keys+rig.KeptKey(`"* /*"`)[1:]), "webhooks:", options.Extra+"#", 1)
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, false)
	hooked, full := k.Login(rig.HookedKey, "demo"), k.Login(rig.FullKey, "demo")
	before := rig.Read(t, k.File)
	signed := func(what string) {
		t.Helper()
		k.Call("POST", "/backup/owner", hooked, h.Body()).Promise(t)
		h.Next(t) // which holds it to both secrets
		require.Equal(t, 200, k.Status("GET", "/order", full), what)
	}
	signed("at first")

	about := regexp.MustCompile(`^    (key_sha256|expires): .*$|^      - .*$`)
	for _, edit := range [][]string{
		{"key", "rotate", "full"}, {"key", "rotate", "odd", "--overlap", "3d"}, {"key", "rotate", "hooked"}, {"key", "revoke", "odd", "--at", "2099-01-31"}, {"key", "revoke", "odd"},
		{"key", "revoke", "backups"}, {"key", "new", "fresh", "--allow", "GET /order"},
	} {
		code, _, problems := cli("", append(edit, "--config", k.File)...)
		require.Zero(t, code, "%s: %s", edit, problems)
		now := rig.Read(t, k.File)
		require.Equal(t, others(before, about), others(now, about), "%s", edit)
		for _, secret := range odd {
			require.Equal(t, strings.Count(before, secret), strings.Count(now, secret), "%s: %s", edit, secret)
		}
		k.HangUp()
		require.Empty(t, k.Ready().Config.Error, "%s", edit)
		signed(strings.Join(edit, " "))
	}
}

// others are the lines of a text that do not match, up to the key that was added.
func others(text string, about *regexp.Regexp) (rest []string) {
	text, _, _ = strings.Cut(text, "  - name: fresh")
	for line := range strings.SplitSeq(text, "\n") {
		if !about.MatchString(line) && strings.TrimSpace(line) != "" {
			rest = append(rest, line)
		}
	}
	return rest
}
