package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/docs"
)

// writeFiles puts files into a folder of their own and makes it the one that the
// program runs in, so that messages name them as an operator sees them.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

const (
	shopHash    = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"
	reportsHash = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
)

func TestCheckOfWhatIsRight(t *testing.T) {
	writeFiles(t, map[string]string{
		"frontdesk.yaml": `
include: [keys.d/*.yaml]
api_keys:
  - {name: reports, key_sha256: ["` + reportsHash + `"], expires: 2999-01-01, per_day: 100, allow: ["GET /*"]}
`,
		"keys.d/webshop.yaml": `api_keys: [{name: webshop, key_sha256: ["` + shopHash + `"], expires: 2999-01-01, per_day: 100, allow: ["GET /order"]}]`,
		"new.yaml":            "log: {}",
	})
	code, stdout, stderr := cli("", "check", "--config", "frontdesk.yaml")
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
	require.Regexp(t, `^frontdesk.yaml is right: 2 api_keys, in 2 files. Its hash is [0-9a-f]{12}.\nFolders and files were judged for user \S+ in /\S+.\n$`, stdout)

	_, stdout, _ = cli("", "check", "--config", "new.yaml")
	require.Regexp(t, `^new.yaml is right: 0 api_keys, in 1 file. `, stdout)

	code, stdout, _ = cli("", "check", "--config", "frontdesk.yaml", "--json")
	require.Zero(t, code)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.Equal(t, true, report["ok"])
	require.Equal(t, []any{}, report["problems"])
	require.Equal(t, []any{"frontdesk.yaml", "keys.d/webshop.yaml"}, report["files"])
}

// wrongFiles have a problem of each sort that check looks for.
func wrongFiles() map[string]string {
	return map[string]string{
		"frontdesk.yaml": "include: [\"my keys/*.yaml\"]\nserver: {lisen: a}\n",
		"my keys/webshop.yaml": `api_keys:
  - name: webshop
    key_sha256: ["` + shopHash + `"]
    allow:
      - GET /order
      - "* /order"
    webhook_secret: ["whsec_hush!"]
`}
}

// TestCheckOfSeveralFiles: each problem has its own file, and no secret is told.
func TestCheckOfSeveralFiles(t *testing.T) {
	writeFiles(t, wrongFiles())
	code, stdout, stderr := cli("", "check", "--config", "frontdesk.yaml")
	require.Equal(t, 2, code)
	require.Equal(t, "frontdesk: frontdesk.yaml has 2 problems\n", stderr)
	require.NotContains(t, stdout, "hush")
	lines := strings.Split(stdout, "\n")
	require.Contains(t, lines[0], "frontdesk.yaml:2:10: server.lisen: ")
	require.Contains(t, lines[1], `my keys/webshop.yaml:2:1: webhook_secret[0] of webshop: `)
	require.Contains(t, lines[1], `[webhook-secret]`)
}

// TestCheckTellsAllBeside: what cannot be read keeps no other problem from being told, in
// any format, each with its place and a rule.
func TestCheckTellsAllBeside(t *testing.T) {
	tests := map[string]struct {
		config string
		rules  []string // in the order of their places
	}{
		"the file is gone":         {"", []string{"file-unreadable"}},
		"the sheet is gone":        {"include: [keys.yaml]\nserver: {lisen: a}\nbackend: {driver: legacy, sheet: gone.yaml}\n", []string{"unknown-key", "file-unreadable"}},
		"the sheet is wrong":       {"include: [keys.yaml]\nserver: {lisen: a}\nbackend: {driver: legacy, sheet: sheet.yaml}\n", []string{"unknown-key", "model-or-sheet", "model-or-sheet"}},
		"the model is gone":        {"include: [keys.yaml]\nserver: {lisen: a}\nmodel: {dir: gone}\n", []string{"unknown-key", "file-unreadable"}},
		"the certificate is gone":  {"server: {tls: {cert_file: gone.pem, key_file: gone.pem}}\ninclude: [keys.yaml]\n", []string{"tls-files"}},
		"an included file is gone": {"include: [gone.yaml, keys.yaml]\n", []string{"include-missing"}},
		"the file is none":         {"server: [", []string{"syntax"}},
		"the file is blank":        {" ", []string{"blank"}},
		"the file is a folder":     {"/", []string{"file-unreadable"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			writeFiles(t, map[string]string{
				"keys.yaml":  "api_keys: [{name: webshop, key_sha256: [" + shopHash + "], allow: [GET /order]}]\n",
				"sheet.yaml": "format: 2\n",
			})
			switch test.config {
			case "":
			case "/":
				require.NoError(t, os.Mkdir("frontdesk.yaml", 0o700))
			default:
				require.NoError(t, os.WriteFile("frontdesk.yaml", []byte(test.config), 0o600))
			}
			var report checkReport
			for _, asJSON := range []bool{false, true} {
				code, out, stderr := cli("", "check", "--config", "frontdesk.yaml", fmt.Sprintf("--json=%t", asJSON))
				require.Equal(t, 2, code)
				require.Equal(t, "frontdesk: frontdesk.yaml has "+terminal.Several(len(test.rules), "problem")+"\n", stderr, "%s", out)
				if asJSON {
					require.NoError(t, json.Unmarshal([]byte(out), &report))
					continue
				}
				var rules []string
				for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
					found := regexp.MustCompile(`^[a-z.]+:\d+:\d+: .+ \[([a-z-]+)\]$`).FindStringSubmatch(line)
					require.NotNil(t, found, line)
					rules = append(rules, found[1])
				}
				require.ElementsMatch(t, test.rules, rules, "%s", out)
			}
			var inJSON []string
			for _, p := range report.Problems {
				inJSON = append(inJSON, p.Rule)
				require.Positive(t, min(p.Line, p.Column), "%+v", p)
			}
			require.ElementsMatch(t, test.rules, inJSON)
			require.False(t, report.OK)
		})
	}
}

// TestCheckElsewhere leaves out what is on the machine, and nothing else.
func TestCheckElsewhere(t *testing.T) {
	writeFiles(t, map[string]string{"frontdesk.yaml": `
server: {tls: {cert_file: gone.pem, key_file: gone.pem}}
sessions: {store: "rediss://h", ca_file: gone.pem}
webhooks: {ca_file: gone.pem}
backend: {dsn: "sqlite:gone/frontdesk.db"}
mail: {folder: frontdesk.yaml/mail}
`})
	code, out, _ := cli("", "check", "--config", "frontdesk.yaml")
	require.Equal(t, 2, code)
	require.Equal(t, 5, strings.Count(out, "\n"), out)
	code, out, stderr := cli("", "check", "--config", "frontdesk.yaml", "--elsewhere")
	require.Zero(t, code, stderr)
	require.Contains(t, out, "frontdesk.yaml is right: ")
	require.NotContains(t, out, "judged for user")
	code, out, _ = cli("", "check", "--config", "none.yaml", "--elsewhere")
	require.Equal(t, 2, code)
	require.Contains(t, out, "[file-unreadable]")
}

// TestCheckForItsUser: what root may write, and the user that serves may not.
func TestCheckForItsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can ask as somebody else")
	}
	binary := rig.Binary(t)
	dir, err := os.MkdirTemp("", "frontdesk-check-") // where others may go too
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "frontdesk")
	require.NoError(t, os.WriteFile(program, []byte(rig.Read(t, binary)), 0o755))
	file := filepath.Join(dir, "frontdesk.yaml")
	for _, folder := range []string{"own", "taken", "half"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	const nobody = 65534
	require.NoError(t, os.Chown(filepath.Join(dir, "own"), nobody, nobody))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "taken", "frontdesk.db"), nil, 0o644))
	for _, name := range []string{"frontdesk.db", "frontdesk.db-serve"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "half", name), nil, 0o644))
		require.NoError(t, os.Chown(filepath.Join(dir, "half", name), nobody, nobody))
	}
	var capabilities []uintptr // beside those of the user
	check := func(folders ...any) string {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "backend: {dsn: \"sqlite:%s/frontdesk.db\"}\nmail: {folder: %s/mail}\n", folders...), 0o644))
		c := exec.Command(program, "check", "--config", file)
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, AmbientCaps: capabilities}
		out, _ := c.CombinedOutput()
		return strings.ReplaceAll(string(out), dir, "HERE")
	}
	require.Contains(t, check("own", "own"), "is right")
	require.Equal(t, `HERE/frontdesk.yaml:1:16: backend.dsn: HERE/taken/frontdesk.db cannot be written by user nobody [folder]
HERE/frontdesk.yaml:2:16: mail.folder: HERE/taken cannot be written by user nobody [folder]
frontdesk: HERE/frontdesk.yaml has 2 problems
`, check("taken", "taken"))
	require.Contains(t, check(".", "own"), "backend.dsn: HERE cannot be written by user nobody [folder]")
	require.Contains(t, check("half", "own"), "backend.dsn: HERE/half cannot be written by user nobody [folder]", "SQLite makes files beside its own")
	require.Contains(t, check("own", "own"), "Folders and files were judged for user nobody in HERE.\n")
	const dacOverride = 1 // CAP_DAC_OVERRIDE, which AmbientCapabilities of a systemd unit gives
	capabilities = []uintptr{dacOverride}
	require.Contains(t, check("taken", "taken"), "is right")
}

func TestCheckMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := cli("", "check", "--config", "none.yaml")
	require.Equal(t, 2, code)
	require.Equal(t, "none.yaml:1:1: configuration: open none.yaml: no such file or directory [file-unreadable]\n", stdout)
	require.Equal(t, "frontdesk: none.yaml has 1 problem\n", stderr)
	code, stdout, _ = cli("", "check", "--schema")
	require.Zero(t, code)
	require.Equal(t, string(docs.ConfigSchema), stdout)
}
