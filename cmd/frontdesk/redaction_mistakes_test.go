package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRedactionOfMistakes: secrets in what is mistyped, and what variables hold that are
// named in the wrong place, are in no message of any command.
func TestRedactionOfMistakes(t *testing.T) {
	const hush = "Kanarie8f3a"
	folder := t.TempDir()
	t.Setenv("LEAKY_WORD", hush)
	t.Setenv("LEAKY_FOLDER", filepath.Join(folder, hush))
	require.NoError(t, os.Mkdir(filepath.Join(folder, hush), 0o700))
	plain := fmt.Sprintf("server: {listen: \"127.0.0.1:0\"}\nops: {listen: \"\"}\nmail: {folder: %q}\nbackend: {dsn: %q}\n", filepath.Join(folder, "mail"), "sqlite:"+filepath.Join(folder, "frontdesk.db"))
	withDSN := func(dsn string) string {
		return strings.Replace(plain, "sqlite:"+filepath.Join(folder, "frontdesk.db"), strings.ReplaceAll(dsn, "HUSH", hush), 1)
	}
	broken := map[string]string{
		"a variable to include":            plain + "include: [\"${LEAKY_WORD}\"]\n",
		"a variable in a pattern":          plain + "include: [\"${LEAKY_WORD}/**/*.yaml\", \"[${LEAKY_WORD}\"]\n",
		"a variable for a folder":          plain + "include: [\"${LEAKY_FOLDER}\"]\n",
		"a variable twice":                 plain + "include: [\"${LEAKY_FOLDER}/../x.yaml\", \"${LEAKY_FOLDER}/../x.yaml\"]\n",
		"a variable for the model":         plain + "model: {dir: \"${LEAKY_FOLDER}/none\"}\n",
		"a variable for a sheet":           strings.Replace(plain, "backend: {", "backend: {driver: legacy, sheet: \"${LEAKY_FOLDER}/none.yaml\", ", 1),
		"a variable for the tracing":       plain + "tracing: {endpoint: \"${LEAKY_WORD}\"}\n",
		"a password in the tracing":        plain + "tracing: {endpoint: \"http://u:" + hush + "@h\"}\n",
		"a password in the public address": strings.Replace(plain, "server: {", "server: {public_url: \"https://u:"+hush+"@h/?"+hush+"\", ", 1),
		"a password in sessions":           plain + "sessions: {store: \"redis:/u:" + hush + "@h\"}\n",
		"an unknown setting":               plain + "log: {colour: " + hush + "}\n",
		"a missing variable":               withDSN("postgres://u:HUSH@${LEAKY_MISSING}/db"),
		"a password in mail":               plain + "mail: {smtp: \"smtp//u:" + hush + "@h\", from: a@example.nl}\n",
	}
	for _, dsn := range []string{
		"sqlite://u:HUSH@h", "sqlite://u:HUSH@h/db?x", "sqlite//u:HUSH@h", "u:HUSH@h/db", "mysql://u:HUSH@h/db", "postgres//u:HUSH@h/db", "postgresql:u:HUSH@h",
		"postgres://u:HUSH", "postgres://u:HUSH@h:port/db", "postgres://u:HU SH@h/db", "postgres://u:%zzHUSH@h/db", "postgres://u:p?HUSH@h/db", "postgres://u:1?HUSH@h/db",
		"postgres://u:p/HUSH@h/db", "postgres://u:p#HUSH@h/db", "postgres://u:HUSH@127.0.0.1:1/db", "postgres://u:HUSH@127.0.0.1:1/db?sslmode=HUSH",
		"postgres://u@127.0.0.1:1/db?password=HUSH&connect_timeout=HUSH", "postgres://u:HUSH@127.0.0.1:1,127.0.0.1:x/db",
	} {
		broken["dsn "+dsn] = withDSN(dsn)
	}
	file := filepath.Join(folder, "frontdesk.yaml")
	for name, text := range broken {
		t.Run(strings.ReplaceAll(name, "/", "∕"), func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			for _, args := range [][]string{
				{"check"}, {"check", "--json"}, {"audit"}, {"key", "list"}, {"key", "new", "webshop"}, {"explain", "--key", "none", "GET /order"},
				{"user", "list"}, {"user", "block", "jan"}, {"callbacks", "list"}, {"migrate"}, {"backup", "--client", "x", "--out", filepath.Join(folder, "x.zip")}, {"serve"},
			} {
				code, stdout, stderr := cli("secret-password\n", append(args, "--config", file)...)
				said := stdout + stderr
				if args[0] == "serve" {
					require.True(t, code != 0 || strings.Contains(said, startWaits), "%s", said)
				}
				require.NotContains(t, said, hush[:7], "%s", args)
				require.NotContains(t, said, "HU SH", "%s", args)
			}
		})
	}
}
