package description

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestForeignTutorial runs every command of docs/integrators.md against the
// demo, but for the client kits, and compares what it prints with what is written.
func TestForeignTutorial(t *testing.T) {
	sqltest.Tool(t, "openssl", "openssl")
	h := startHour(t)
	for _, b := range h.blocks {
		if b.kit == "" {
			h.perform(b)
		}
	}
}

// TestIntegratorsSignature holds the signature in the tutorial to the library of
// Standard Webhooks.
func TestIntegratorsSignature(t *testing.T) {
	text := []byte(rig.Read(t, rig.Repository(t, tutorialFile)))
	find := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		require.NotNil(t, found, "%s in %s", pattern, tutorialFile)
		return string(found[1])
	}
	hook := must.Have(standardwebhooks.NewWebhook(find(`SECRET=(\S+)`)))(t)
	signature := must.Have(hook.Sign(find(`CALL=(\S+)`), time.Unix(1782892800, 0), nil))(t)
	require.Contains(t, string(text), "AT=1782892800\n")
	require.Contains(t, string(text), "\n"+strings.TrimPrefix(signature, "v1,")+"\n")
}

// TestForeignKitsTypeScript generates, compiles and runs docs/kits/typescript.
func TestForeignKitsTypeScript(t *testing.T) {
	kit := rig.Repository(t, "docs", "kits", "typescript")
	sqltest.Tool(t, "npm", "npm")
	if _, err := os.Stat(filepath.Join(kit, "node_modules", ".installed")); err != nil {
		sqltest.Missing(t, "npm", "the packages of docs/kits/typescript are missing; .ci/kits fetches them")
	}
	h := startHour(t)
	h.perform(h.kit("typescript"))
	keepsCopy(t, filepath.Join(h.dir, "docs", "kits", "typescript"), sqltest.Tool(t, "npm", "node"), "dist/copy.js")
}

// TestForeignKitsGo generates, compiles and runs docs/kits/go.
func TestForeignKitsGo(t *testing.T) {
	fetched := exec.Command("go", "list", "-deps", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen", "github.com/oapi-codegen/runtime")
	fetched.Dir, fetched.Env = rig.Repository(t, "docs", "kits", "go"), append(os.Environ(), "GOPROXY=off")
	if out, err := fetched.CombinedOutput(); err != nil {
		sqltest.Missing(t, "npm", "the modules of docs/kits/go are missing; .ci/kits fetches them: "+string(out))
	}
	h := startHour(t)
	b := h.kit("go")
	b.want = h.kit("typescript").want // the page says that it prints the same
	h.perform(b)
	keepsCopy(t, filepath.Join(h.dir, "docs", "kits", "go"), "./copy")
}

// tutorialFile is where an integrator begins.
const tutorialFile = "docs/integrators.md"

// tutorialAddress is where the tutorial has the demo; a test has it elsewhere.
const tutorialAddress = "127.0.0.1:8080"

// block is one of commands in the tutorial, with what they are said to print.
type block struct {
	line              int
	kind, kit, script string
	want              string
}

// hour is somebody going through the tutorial: a folder like that of the
// project, the demo, and one shell.
type hour struct {
	t       *testing.T
	dir     string
	address string
	blocks  []block
	in      io.WriteCloser
	out     *bufio.Reader
}

// startHour starts the demo and a shell; the variables that the tutorial sets
// first are there, so that one may begin at any step.
func startHour(t *testing.T) *hour {
	dash := sqltest.Tool(t, "dash", "dash") // what runs there runs in any shell
	sqltest.Tool(t, "curl", "curl")
	h := &hour{t: t, dir: t.TempDir(), address: rig.FreeAddress(t), blocks: readTutorial(t)}
	require.NoError(t, os.Mkdir(filepath.Join(h.dir, "bin"), 0o700))
	require.NoError(t, os.Symlink(rig.Binary(t), filepath.Join(h.dir, "bin", "frontdesk")))
	require.NoError(t, os.CopyFS(filepath.Join(h.dir, "docs", "kits"), os.DirFS(rig.Repository(t, "docs", "kits"))))
	h.startDemo()

	ctx, stop := context.WithCancel(context.Background())
	shell := exec.CommandContext(ctx, dash)
	shell.Dir = h.dir
	shell.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "npm_config_offline=true", "GOPROXY=off", "GOFLAGS=-trimpath",
		"BASE=http://"+h.address+"/webservice_v2", "API_KEY="+desk.DemoFullKey, "FRONTDESK_USER=demo", "FRONTDESK_PASSWORD=demo")
	h.in = must.Have(shell.StdinPipe())(t)
	read, write := io.Pipe()
	h.out, shell.Stdout, shell.Stderr = bufio.NewReader(read), write, write
	require.NoError(t, shell.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		write.CloseWithError(fmt.Errorf("the shell ended: %v", shell.Wait()))
	}()
	t.Cleanup(func() {
		h.in.Close()
		stop()
		read.Close()
		<-ended
	})
	return h
}

// startDemo starts the demo as the tutorial does, but on free ports.
func (h *hour) startDemo() {
	ready := rig.StartDemo(h.t, h.address) + "\n"
	for _, b := range h.blocks {
		if b.kind == "demo" {
			require.Equal(h.t, []string{"bin/frontdesk demo\n", b.want}, []string{b.script, h.written(ready)})
		}
	}
}

// written is an output with the address of the tutorial.
func (h *hour) written(output string) string {
	return strings.ReplaceAll(output, h.address, tutorialAddress)
}

// endOfBlock is printed after the output of a block, with its exit code.
const endOfBlock = "\x1eend of block "

// perform runs a block in the shell, and compares what it prints.
func (h *hour) perform(b block) {
	h.t.Helper()
	if b.kind != "" { // that of the build, and that of the demo: done before
		return
	}
	at := fmt.Sprintf("docs/integrators.md:%d", b.line)
	file := filepath.Join(h.t.TempDir(), "block.sh")
	require.NoError(h.t, os.WriteFile(file, []byte(strings.ReplaceAll(b.script, tutorialAddress, h.address)), 0o600))
	must.Have(fmt.Fprintf(h.in, ". '%s' </dev/null; printf '\\036end of block %%d\\n' $?\n", file))(h.t)
	var got bytes.Buffer
	for !bytes.Contains(got.Bytes(), []byte(endOfBlock)) {
		line, err := h.out.ReadBytes('\n')
		got.Write(line)
		require.NoError(h.t, err, "%s, after it printed\n%s", at, got.String())
	}
	output, code, _ := strings.Cut(got.String(), endOfBlock)
	output = h.written(strings.ReplaceAll(output, "\r\n", "\n"))
	require.Equal(h.t, "0\n", code, "exit code of %s, which printed\n%s", at, output)
	if !asWritten(b.want).MatchString(output) {
		h.t.Fatalf("%s prints\n%s\nwhere the page says\n%s", at, output, b.want)
	}
}

// asWritten matches an output with what is written of it, where … stands for
// any text on a line. A page cannot show whether the last line ended.
func asWritten(want string) *regexp.Regexp {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(want, "\n")), "…", `[^\n]*`)
	return regexp.MustCompile(`^` + pattern + `\n?$`)
}

// kit is the block of a client kit.
func (h *hour) kit(name string) block {
	h.t.Helper()
	for _, b := range h.blocks {
		if b.kit == name {
			return b
		}
	}
	h.t.Fatalf("%s has no block of the kit %s", tutorialFile, name)
	return block{}
}

// fenced is a block of the tutorial: its language, what else is said of it, and its lines.
var fenced = regexp.MustCompile("(?ms)^```(\\S+) ?([^\n]*)\n(.*?)^```$")

// readTutorial returns the blocks of commands, each with the block of text that
// follows it, if one does before the next commands.
func readTutorial(t *testing.T) (blocks []block) {
	t.Helper()
	text := rig.Read(t, rig.Repository(t, tutorialFile))
	all := fenced.FindAllStringSubmatchIndex(text, -1)
	require.Equal(t, strings.Count("\n"+text, "\n```"), 2*len(all), "a block of %s does not end", tutorialFile)
	for _, at := range all {
		language, more, lines := text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]
		line := 1 + strings.Count(text[:at[0]], "\n")
		switch last := len(blocks) - 1; {
		case language == "sh":
			b := block{line: line, kind: more, script: lines}
			if kit, ok := strings.CutPrefix(more, "kit="); ok {
				b.kind, b.kit = "", kit
			}
			require.Contains(t, []string{"", "build", "demo"}, b.kind, "%s:%d", tutorialFile, line)
			blocks = append(blocks, b)
		case language == "text" && last >= 0 && blocks[last].want == "":
			blocks[last].want = lines
		default:
			t.Fatalf("%s:%d: a block is sh, or the text that one prints", tutorialFile, line)
		}
	}
	return blocks
}
