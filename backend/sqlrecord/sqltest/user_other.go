//go:build !linux

package sqltest

import "os/exec"

func handOver(string) error { return nil }

func unprivileged(cmd *exec.Cmd, dir string) error {
	cmd.Dir = dir
	return nil
}

func startBound(cmd *exec.Cmd) (release func(), err error) { return func() {}, cmd.Start() }
