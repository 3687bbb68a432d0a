package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/completion"
	"frontdesk/cmd/frontdesk/rig"
)

// TestCompletion asks what command lines may go on with, as the scripts of the shells do.
func TestCompletion(t *testing.T) {
	plannersFolder(t)
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"expl"}, "explain"},
		{[]string{"allow", ""}, "add remove learn unused"},
		{[]string{"nothing", ""}, ""},
		{[]string{"allow", "remove", ""}, "webshop planner"},
		{[]string{"allow", "remove", "--dry-run", "planner", "GET /v"}, "GET /vehicle"},
		{[]string{"allow", "remove", "planner", `"GET /v`}, "GET /vehicle"},
		{[]string{"allow", "remove", `planner`, `"GET /vehicle"`, `GET\ /o`}, "GET /order"},
		{[]string{"allow", "add", "planner", "PUT /orderl"}, "PUT /orderline PUT /orderline/bulk"},
		{[]string{"allow", "add", "planner", "* /orderl"}, "* /orderline * /orderline/bulk"},
		{[]string{"key", "new", "--allow", "GET /model"}, "GET /model/*"},
		{[]string{"allow", "learn", "--wr"}, "--write"},
		{[]string{"allow", "learn", "--format", ""}, "diff yaml json"},
		{[]string{"allow", "learn", "--format=y"}, "--format=yaml"},
		{[]string{"allow", "learn", "--key", "=", "pl"}, "planner"},
		{[]string{"allow", "learn", "--key", "="}, "webshop planner"},
		{[]string{"allow", "learn", "--config", "none.yaml", "--key", ""}, ""},
		{[]string{"allow", "learn", "--", "--wr"}, ""},
		{[]string{"serve", "--config", ""}, ""},
		{[]string{"completion", ""}, "bash zsh fish"},
		{[]string{completion.Word[:3]}, ""},
	} {
		code, stdout, stderr := cli("", append([]string{completion.Word}, c.words...)...)
		require.Equal(t, 0, code)
		require.Empty(t, stderr)
		var found []string
		for line := range strings.Lines(stdout) {
			word, _, _ := strings.Cut(line, "\t")
			found = append(found, word)
		}
		require.Equal(t, c.want, strings.Join(found, " "), "%q", c.words)
	}
	t.Setenv("FRONTDESK_CONFIG", "none.yaml")
	_, stdout, _ := cli("", completion.Word, "key", "revoke", "")
	require.Empty(t, stdout)
}

// TestCompletionTags: each tag names something that is completed.
func TestCompletionTags(t *testing.T) {
	var c commands
	parser, err := kong.New(&c, kong.Vars{"demo_listen": demoListen})
	require.NoError(t, err)
	tags := 0
	require.NoError(t, kong.Visit(parser.Model, func(n kong.Visitable, next kong.Next) error {
		value, _ := n.(*kong.Value)
		if flag, ok := n.(*kong.Flag); ok {
			value = flag.Value
		}
		if value != nil && value.Tag.Get("complete") != "" {
			require.True(t, slices.Contains([]string{"key", "entry", "granted"}, value.Tag.Get("complete")), value.Summary())
			tags++
		}
		return next(nil)
	}))
	require.Greater(t, tags, 10)
}

// TestCompletionInBash has a real bash complete, where entries have blanks and a flag has its
// value behind =.
func TestCompletionInBash(t *testing.T) {
	bash := sqltest.Tool(t, "bash", "bash")
	binary := rig.Binary(t) // which is made from this folder
	plannersFolder(t)
	require.NoError(t, os.Mkdir("bin", 0o700))
	program := filepath.Join("bin", "frontdesk")
	require.NoError(t, os.Symlink(binary, program))
	const script = `source <("$1" completion bash)
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_frontdesk
printf '%s\n' "${COMPREPLY[@]}"
complete -p frontdesk`
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"allow", "remove", "planner", `"GET /v`}, "GET /vehicle\n"},
		{[]string{"allow", "remove", "planner", `GET\ /v`}, "GET\\ /vehicle\n"},
		{[]string{"allow", "learn", "--key", "=", "pl"}, "planner\n"},
		{[]string{"completion", ""}, "bash\nzsh\nfish\n"},
	} {
		output, err := exec.Command(bash, append([]string{"--norc", "-c", script, "bash", program, program}, c.words...)...).CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Equal(t, c.want+"complete -o default -F _frontdesk frontdesk\n", string(output), "%q", c.words)
	}
}
