package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measureWord is what go test -exec calls this program with before a test binary.
const measureWord = "measure"

// measured begins the line that says what a test binary and the processes that it
// waited for used of the processors.
const measured = "testrun: CPU in milliseconds: "

// measure runs a test binary and returns its exit code.
func measure(binary string, args []string) int {
	command := exec.Command(binary, args...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT) // SIGQUIT is go test's, to whoever is late
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		for s := range signals {
			_ = command.Process.Signal(s) // it may have ended
		}
	}()
	err := command.Wait()
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	fmt.Printf("%s%d\n", measured, used.Milliseconds())
	if err == nil {
		return 0
	}
	if ended := new(exec.ExitError); !errors.As(err, &ended) {
		fmt.Fprintln(os.Stderr, err)
	}
	return max(command.ProcessState.ExitCode(), 1)
}

// cpuOf reads the line that measure wrote.
func cpuOf(line string) (time.Duration, bool) {
	_, number, found := strings.Cut(line, measured)
	milliseconds, err := strconv.Atoi(strings.TrimSpace(number))
	return time.Duration(milliseconds) * time.Millisecond, found && err == nil
}
