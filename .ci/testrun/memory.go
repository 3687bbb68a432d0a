package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// memory is a file system in memory that Linux has. Databases that live for one test are
// hundreds of files, which cost a disk more than the test.
const memory = "/dev/shm"

// roomInMemory is what there must be of it: four times what the tests take at once.
const roomInMemory = 4 << 30

// perGC is the Go runtime's GOGC for the tests. They take their memory for moments, and a
// tenth to a fifth of their time went to collecting it. What is started as it is shipped
// has the runtime's own.
const perGC = "GOGC=400"

// withoutC has the tests made of the packages that the program is made of, which are then
// compiled once. The race detector takes C.
func withoutC(args []string) []string {
	if slices.Contains(args, "-race") {
		return nil
	}
	return []string{"CGO_ENABLED=0"}
}

// workFolder makes the folder in which the tests work: in memory where there is room
// enough, unless TMPDIR says another, and returns what removes it.
func workFolder(memory string, room uint64) (environment []string, remove func(), err error) {
	parent := ""
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && syscall.Statfs(memory, &fs) == nil && uint64(fs.Bsize)*fs.Bavail >= room && runs(memory) {
		parent = memory
		sweep(memory)
	}
	folder, err := os.MkdirTemp(parent, fmt.Sprintf("frontdesk-tests-%d-", os.Getpid()))
	if err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(folder, 0o755); err != nil { // the servers work under accounts of their own
		return nil, nil, err
	}
	// What go test builds is gigabytes, and stays where it was. FRONTDESK_SHARED is for what
	// one test binary makes and others take: sqltest.Shared.
	return []string{"TMPDIR=" + folder, "FRONTDESK_SHARED=" + folder, "GOTMPDIR=" + os.TempDir()}, func() { _ = os.RemoveAll(folder) }, nil
}

// runs tells whether a program that lies in a folder can be started.
func runs(folder string) bool {
	probe := filepath.Join(folder, fmt.Sprintf("frontdesk-probe-%d", os.Getpid()))
	defer os.Remove(probe)
	if err := os.WriteFile(probe, []byte("#!/bin/sh\n"), 0o700); err != nil {
		return false
	}
	process, err := os.StartProcess(probe, []string{probe}, &os.ProcAttr{})
	if err != nil {
		return false
	}
	state, err := process.Wait()
	return err == nil && state.Success()
}

// sweep removes what a run left in a folder that was killed.
func sweep(folder string) {
	left, _ := filepath.Glob(filepath.Join(folder, "frontdesk-tests-*"))
	for _, folder := range left {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(folder), "frontdesk-tests-%d-", &pid); err == nil {
			if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); os.IsNotExist(err) {
				_ = os.RemoveAll(folder)
			}
		}
	}
}
