// Command testrun runs the tests of frontdesk: make test calls it. It needs nothing
// but Go. It looks for the real parts that the tests want, has those installed that
// are missing where it can, runs go test, and says as it goes what it does: a line
// for each package, failures whole, and at the end what passed, what was skipped and
// why, what took longest, and what was left out for want of a part.
//
//	go run ./.ci/testrun [times] FLAGS-AND-PACKAGES-OF-GO-TEST
//	go run ./.ci/testrun install
//
// With times, it ends with where the minutes went: every package and the slowest
// tests. With install, it only gets the parts. FRONTDESK_REQUIRE names the parts,
// separated by commas, without which nothing is run; all names every one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	args := os.Args[1:]
	if len(args) > 1 && args[0] == measureWord {
		os.Exit(measure(args[1], args[2:]))
	}
	if err := run(ctx, os.Stdout, args); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	begun := time.Now()
	times, install := len(args) > 0 && args[0] == "times", len(args) > 0 && args[0] == "install"
	if times || install {
		args = args[1:]
	}
	left := provide(ctx, out, parts)
	left.print(out)
	if err := left.lack(os.Getenv("FRONTDESK_REQUIRE")); err != nil || install {
		return err
	}
	_, proxy, err := moduleProxies(ctx)
	if err != nil {
		return err
	}
	binary, err := build(ctx)
	if binary != "" {
		defer os.RemoveAll(filepath.Dir(binary))
	}
	if err != nil {
		return err
	}
	work, remove, err := workFolder(memory, roomInMemory)
	if err != nil {
		return err
	}
	defer remove()
	fmt.Fprintf(out, "The parts and the program took %s.\n", short(time.Since(begun)))
	r := newReport(out)
	environment := slices.Concat([]string{perGC}, withoutC(args), os.Environ(), work)
	err = test(ctx, r, args, append(environment, proxy, "FRONTDESK_BINARY="+binary, "FRONTDESK_REQUIRE="+strings.Join(left.there(), ",")))
	r.close(times)
	left.print(out)
	passed, failed, skipped := r.sums()
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	switch {
	case err != nil:
		return err
	case failed > 0:
		return errors.New("there are failures")
	case passed+skipped == 0:
		return errors.New("no test was run")
	}
	return nil
}

// build makes the program that the tests start as it is shipped, once for all of them.
func build(ctx context.Context) (string, error) {
	folder, err := os.MkdirTemp("", "frontdesk-binary-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, "frontdesk")
	if said, err := exec.CommandContext(ctx, "deploy/build", binary).CombinedOutput(); err != nil {
		return binary, fmt.Errorf("deploy/build: %w\n%s", err, said)
	}
	return binary, nil
}

// test runs go test, whose events go to the report.
func test(ctx context.Context, r *report, args, environment []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-exec", "'" + self + "' " + measureWord}, args...)...)
	command.Env, command.Stderr = environment, os.Stderr
	// Told to end, go test waits for the tests that run: they are told too.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	events, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	read := r.read(events)
	err = command.Wait()
	r.cpu = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	if err != nil {
		err = fmt.Errorf("go test: %w", err)
	}
	return errors.Join(read, err)
}
