package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrongFolder: a command that works on what is there makes no database where it finds
// none, and says where it looked.
func TestWrongFolder(t *testing.T) {
	home, wrong := t.TempDir(), t.TempDir()
	file := filepath.Join(home, "frontdesk.yaml")
	require.NoError(t, os.WriteFile(file, []byte("backend: {dsn: sqlite:records.db}\n"), 0o600))
	archive := filepath.Join(home, "backup.zip")
	command := func(args ...string) (int, string) {
		code, stdout, stderr := cli("a good password\n", append(args, "--config", file)...)
		return code, stdout + stderr
	}
	t.Chdir(home)
	for _, args := range [][]string{
		{"migrate"}, {"user", "add", "jan", "--client", "Garage", "--email", "jan@example.nl"}, {"backup", "--client", "Garage", "--out", archive},
	} {
		code, said := command(args...)
		require.Zero(t, code, said)
	}
	commands := [][]string{
		{"user", "add", "piet", "--client", "Garage", "--email", "piet@example.nl"}, {"user", "passwd", "jan"}, {"user", "list"}, {"user", "block", "jan"}, {"user", "unblock", "jan"},
		{"backup", "--client", "Garage", "--out", archive}, {"restore", "--client", "New", "--rename", archive},
		{"callbacks", "list"}, {"callbacks", "show", "none"}, {"callbacks", "replay", "none"},
	}
	t.Chdir(wrong)
	database := filepath.Join(wrong, "records.db")
	for _, state := range []string{"nothing", "an empty file"} {
		if state != "nothing" {
			require.NoError(t, os.WriteFile(database, nil, 0o600))
		}
		before, err := os.ReadDir(wrong)
		require.NoError(t, err)
		for _, args := range commands {
			code, said := command(args...)
			require.Equal(t, 1, code, "%s, %q: %s", state, args, said)
			require.Contains(t, said, fmt.Sprintf("there is no database %s (backend.dsn is records.db, from this folder): run this in the folder that frontdesk serves in; frontdesk migrate makes a new one in this one", database), "%s, %q", state, args)
			after, err := os.ReadDir(wrong)
			require.NoError(t, err)
			require.Len(t, after, len(before), "%s, %q", state, args)
		}
	}
	t.Chdir(home)
	for _, args := range [][]string{{"user", "passwd", "joop"}, {"user", "block", "joop"}, {"callbacks", "show", "none"}, {"backup", "--client", "None", "--out", archive}} {
		code, said := command(args...)
		require.Equal(t, 1, code, "%q: %s", args, said)
		require.Contains(t, said, " in "+filepath.Join(home, "records.db")+";", "%q", args)
	}
	_, said := command("callbacks", "list")
	require.Contains(t, said, "No callback in "+filepath.Join(home, "records.db")+" is as asked for")
}

// TestWrongFolderOfASheet is TestWrongFolder for the database beside a system that is not
// ours.
func TestWrongFolderOfASheet(t *testing.T) {
	t.Setenv("SECRET", "x")
	t.Setenv("SERVICE_URL", "http://127.0.0.1:1")
	folder := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "..", "mapping", "sheet", "testdata", "service.yaml"))
	require.NoError(t, err)
	file, sheet := filepath.Join(folder, "frontdesk.yaml"), filepath.Join(folder, "service.yaml")
	require.NoError(t, os.WriteFile(sheet, text, 0o600))
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "backend: {driver: remote, sheet: %q}\n", sheet), 0o600))
	code, _, said := cli("", "callbacks", "list", "--config", file)
	require.Equal(t, 1, code)
	require.Contains(t, said, "there is no database "+filepath.Join(folder, "keep.db")+" (keep of "+sheet+")")
	_, err = os.Stat(filepath.Join(folder, "keep.db"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
