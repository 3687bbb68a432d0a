// Command release makes what is published of frontdesk; make release calls it. For each
// platform that is an archive with the program, the pages, a manual page and the licences
// of what is linked, and beside it an SBOM; for all of them SHA256SUMS. The same commit
// and the same Go make the same bytes, in whatever folder.
//
//	go run ./deploy/release [-o FOLDER] [GOOS/GOARCH …]
//	go run ./deploy/release -beside FOLDER -program FILE GOOS/GOARCH
//
// The second writes what belongs beside a program into a folder, for other packages.
//
// It needs Go, and git where the tree has no other word for its version (see
// deploy/version). The modules of go.mod have to be on the machine, or the network there
// to fetch them.
package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := flag.String("o", "dist", "the folder to write into")
	beside := flag.String("beside", "", "write what belongs beside the program into this folder, and nothing else")
	program := flag.String("program", "", "with -beside: a frontdesk that runs here, whose help is in the manual page")
	flag.Parse()
	wanted, err := parsePlatforms(flag.Args())
	if err == nil {
		if *beside != "" {
			err = writeBeside(ctx, *beside, *program, wanted[0])
		} else {
			err = release(ctx, os.Stdout, *out, wanted)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// platform is one that the program is built for.
type platform struct{ os, arch string }

// platforms are those that a release is for.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func (p platform) String() string { return p.os + "/" + p.arch }

// environment is what go runs in, with nothing of its user's settings that has a say in
// the bytes.
func (p platform) environment() []string {
	return append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOWORK=off")
}

// program is what the program is called there.
func (p platform) program() string {
	if p.os == "windows" {
		return "frontdesk.exe"
	}
	return "frontdesk"
}

func parsePlatforms(args []string) (wanted []platform, err error) {
	for _, arg := range args {
		system, arch, ok := strings.Cut(arg, "/")
		if !ok {
			return nil, fmt.Errorf("%q is no platform: linux/amd64 is one", arg)
		}
		wanted = append(wanted, platform{system, arch})
	}
	if len(wanted) == 0 {
		wanted = platforms
	}
	return wanted, nil
}

// tree is what deploy/version says of the sources.
type tree struct {
	version string    // v1.2.0
	commit  string    // "" where it is not known
	time    time.Time // of the commit; the earliest that a ZIP file knows where it is not known
}

func readTree(ctx context.Context) (tree, error) {
	said, err := exec.CommandContext(ctx, "deploy/version").Output()
	if err != nil {
		return tree{}, fmt.Errorf("deploy/version: %w", err)
	}
	words := append(strings.Fields(string(said)), "", "")
	t := tree{version: words[0], commit: words[1], time: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	if words[2] != "" {
		t.time, err = time.Parse(time.RFC3339, words[2])
	}
	return t, err
}

// published tells whether the version is that of a tag, and nothing was changed since.
func (t tree) published() bool {
	return !strings.HasPrefix(t.version, "v0.0.0-") && !strings.Contains(t.version, "-g") && !strings.HasSuffix(t.version, "-dirty")
}

// release makes everything for those platforms.
func release(ctx context.Context, say io.Writer, out string, wanted []platform) error {
	t, err := readTree(ctx)
	if err != nil {
		return err
	}
	if !t.published() {
		fmt.Fprintf(say, "This tree is no release, but %s: for trial only.\n", t.version)
	}
	links := make([]linked, len(wanted)) // first of all: it shows what is missing before minutes are spent
	for i, p := range wanted {
		if links[i], err = readLinked(ctx, p); err != nil {
			return err
		}
	}
	if err := emptied(out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "frontdesk-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	here, err := build(ctx, platform{runtime.GOOS, runtime.GOARCH}, work)
	if err != nil {
		return err
	}
	manual, err := manualPage(ctx, t, here)
	if err != nil {
		return err
	}
	m := maker{say: say, tree: t, work: work, manual: manual, made: map[string][]byte{}}
	for i, p := range wanted {
		if err := m.platform(ctx, p, links[i]); err != nil {
			return err
		}
	}
	m.made["SHA256SUMS"] = sums(m.made)
	for name, data := range m.made {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// maker makes a release.
type maker struct {
	say    io.Writer
	tree   tree
	work   string // the folder of programs
	manual []byte
	made   map[string][]byte // what is published, by its name
}

// platform makes what there is for one platform.
func (m *maker) platform(ctx context.Context, p platform, l linked) error {
	name := fmt.Sprintf("frontdesk_%s_%s_%s", strings.TrimPrefix(m.tree.version, "v"), p.os, p.arch)
	binary, err := program(ctx, p, l, m.work)
	if err != nil {
		return err
	}
	files, err := beside(ctx, m.tree, p, l, m.manual)
	if err != nil {
		return err
	}
	archive, ending, err := p.archive(name, append(files, file{p.program(), 0o755, binary}), m.tree.time)
	if err != nil {
		return err
	}
	m.made[name+ending] = archive
	fmt.Fprintf(m.say, "%s  %.1f MB, the program in it %.1f MB\n", name+ending, float64(len(archive))/1e6, float64(len(binary))/1e6)
	m.made[name+".cdx.json"], err = sbom(m.tree, p, l)
	return err
}

// program is the program of a platform, which is made of what go list says.
func program(ctx context.Context, p platform, l linked, work string) ([]byte, error) {
	name, err := build(ctx, p, work)
	if err != nil {
		return nil, err
	}
	if err := l.agrees(name); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// build makes the program for a platform in a folder, once.
func build(ctx context.Context, p platform, folder string) (program string, err error) {
	program = filepath.Join(folder, p.os+"-"+p.arch)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	command := exec.CommandContext(ctx, "deploy/build", program)
	command.Env = p.environment()
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("deploy/build for %s: %w\n%s", p, err, said)
	}
	return program, nil
}

// agrees holds what go list says of the sources to what the program itself says.
func (l linked) agrees(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	inProgram, inList := map[string]bool{}, map[string]bool{}
	for _, m := range info.Deps {
		inProgram[m.Path+" "+m.Version+" "+m.Sum] = true
	}
	for _, m := range l.modules {
		inList[m.Path+" "+m.Version+" "+m.Sum] = true
	}
	if !maps.Equal(inProgram, inList) || info.GoVersion != l.goVersion {
		return fmt.Errorf("%s is made of %v by %s, and go list names %v and %s", program, info.Deps, info.GoVersion, slices.Sorted(maps.Keys(inList)), l.goVersion)
	}
	return nil
}

// emptied makes the folder, or takes what an earlier release left out of it.
func emptied(folder string) error {
	old, err := filepath.Glob(filepath.Join(folder, "frontdesk_*"))
	if err != nil {
		return err
	}
	for _, name := range append(old, filepath.Join(folder, "SHA256SUMS")) {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return os.MkdirAll(folder, 0o755)
}

// sums are the checksums of files, as sha256sum -c reads them.
func sums(made map[string][]byte) []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(made[name]), name)
	}
	return []byte(b.String())
}
