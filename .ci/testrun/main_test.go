package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain is also what go test -exec calls below.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == measureWord {
		os.Exit(measure(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

const header = "import (\n\t\"net\"\n\t\"os\"\n\t\"testing\"\n)\n\nvar _, _ = os.Exit, net.Dial\n\n"

// scratch are the tests of a package each.
var scratch = map[string]string{
	"good":      `func TestGood(t *testing.T) { t.Run("part", func(t *testing.T) { t.Log("nobody reads this") }) }`,
	"skipping":  `func TestSkips(t *testing.T) { t.Skip("there is no moon") }` + "\n" + `func TestSkipsToo(t *testing.T) { t.Skip("there is no moon") }`,
	"failing":   `func TestFails(t *testing.T) { t.Log("before"); t.Error("two is not one") }` + "\n" + `func TestHolds(t *testing.T) { t.Log("nobody reads this") }`,
	"panicking": `func TestPanics(t *testing.T) { panic("oh no") }` + "\n" + `func TestNever(t *testing.T) {}`,
	"broken":    `func TestBroken(t *testing.T) { t.Log(undefined) }`,
	"vetted":    `func TestVetted(t *testing.T) { t.Logf("%d", "no number") }`,
	"late":      `func TestLate(t *testing.T) { t.Log("waits"); <-make(chan int) }`,
	"told": `func TestTold(t *testing.T) {
	c, err := net.Dial("tcp", os.Getenv("TOLD"))
	if err != nil {
		t.Fatal(err)
	}
	c.Read(make([]byte, 1))
}`,
	"leaving": `func TestLeaves(t *testing.T) { os.Exit(3) }`,
	"empty":   `func BenchmarkNothing(b *testing.B) {}`,
	"busy": `func TestBusy(t *testing.T) {
	if os.Getenv("BUSY") != "" {
		for n := 0; n < 1e9; n++ {
		}
		return
	}
	t.Setenv("BUSY", "yes")
	child, err := os.StartProcess(os.Args[0], []string{os.Args[0]}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.Wait(); err != nil {
		t.Fatal(err)
	}
}`,
}

// write makes a module of some of the packages, and goes there.
func write(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	file := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	file("go.mod", "module scratch\n\ngo 1.26\n")
	for _, name := range names {
		file(name+"/all_test.go", "package "+name+"\n\n"+header+scratch[name]+"\n")
		paths = append(paths, "./"+name)
	}
	return paths
}

// runScratch runs the tests of some of the packages, and returns what is printed.
func runScratch(t *testing.T, flags []string, names ...string) (out string, passed, failed, skipped int, err error) {
	t.Helper()
	args := append(flags, write(t, names...)...)
	var printed bytes.Buffer
	r := newReport(&printed)
	err = test(context.Background(), r, args, os.Environ())
	r.close(true)
	passed, failed, skipped = r.sums()
	return printed.String(), passed, failed, skipped, err
}

func requireSums(t *testing.T, passed, failed, skipped int, want ...int) {
	t.Helper()
	if got := []int{passed, failed, skipped}; !slices.Equal(got, want) {
		t.Errorf("passed, failed, skipped: %v, want %v", got, want)
	}
}

func requireMatches(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%q is not in:\n%s", pattern, text)
		}
	}
}

func TestReportOfSuccess(t *testing.T) {
	out, passed, failed, skipped, err := runScratch(t, nil, "good", "skipping", "empty")
	if err != nil {
		t.Error(err)
	}
	requireSums(t, passed, failed, skipped, 2, 0, 2)
	requireMatches(t, out, `(?m)^ok  \tscratch/good\t[0-9.]+s$`, `(?m)^ok  \tscratch/skipping\t`, `(?m)^ok  \tscratch/empty\t.*no tests to run`,
		`Skipped:\n +2  there is no moon\n +scratch/skipping TestSkips\n +scratch/skipping TestSkipsToo\n`, `s  scratch/good TestGood\n`)
	if strings.Contains(out, "nobody reads this") || strings.Contains(out, measured) {
		t.Error("not for readers:", out)
	}
}

func TestReportOfFailure(t *testing.T) {
	out, passed, failed, skipped, err := runScratch(t, []string{"-timeout=2s"}, "good", "failing", "panicking", "broken", "vetted", "late", "leaving")
	if err == nil {
		t.Error("it is told as success")
	}
	requireSums(t, passed, failed, skipped, 3, 6, 0)
	requireMatches(t, out, `(?m)^ok  \tscratch/good\t`, `before\n.*two is not one\n`, `panic: oh no`, `(?m)^panic: test timed out after 2s`, `waits`,
		`all_test.go:\d+:\d+: undefined: undefined`, `(?m)^FAIL\tscratch/broken \[build failed\]`, `format %d has arg "no number" of wrong type`,
		`(?m)^FAIL\tscratch/failing\t`, `(?m)^FAIL\tscratch/panicking\t`, `(?m)^FAIL\tscratch/late\t`, `(?m)^FAIL\tscratch/leaving\t`,
		`Failed:\n +scratch/failing TestFails\n +scratch/late TestLate\n +scratch/leaving TestLeaves\n +scratch/panicking TestPanics\n +scratch/broken \(the package\)\n`)
	if strings.Contains(out, "nobody reads this") {
		t.Error("a test that passed is not for readers:", out)
	}
}

// TestReportOfNoPackage has go test find nothing to run.
func TestReportOfNoPackage(t *testing.T) {
	_, passed, failed, skipped, err := runScratch(t, []string{"./nowhere"})
	if err == nil {
		t.Error("it is told as success")
	}
	requireSums(t, passed, failed, skipped, 0, 1, 0)
}

// TestInterrupted ends the run in the middle of a test, which ends too: the connection
// that it holds does.
func TestInterrupted(t *testing.T) {
	args := write(t, "told")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, stop := context.WithCancel(context.Background())
	held := make(chan net.Conn, 1)
	go func() {
		defer stop()
		defer close(held)
		if c, err := l.Accept(); err == nil {
			held <- c
		}
	}()
	r := newReport(io.Discard)
	if err := test(ctx, r, args, append(os.Environ(), "TOLD="+l.Addr().String())); err == nil {
		t.Error("it is told as success")
	}
	r.close(false)
	passed, failed, skipped := r.sums()
	requireSums(t, passed, failed, skipped, 0, 1, 0)
	_ = l.Close()
	c := <-held
	if c == nil {
		t.Fatal("the test did not begin")
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the test goes on")
	}
}

// TestMeasured has what a test binary used counted, that of its children too.
func TestMeasured(t *testing.T) {
	out, _, _, _, _ := runScratch(t, nil, "busy")
	if !regexp.MustCompile(`(?m) (0\.[1-9]|[1-9]\d*\.\d)s +[0-9.]+s +1  scratch/busy$`).MatchString(out) {
		t.Error("a billion rounds cost nothing:\n" + out)
	}
}
