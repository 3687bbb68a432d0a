//go:build !linux

package legacytest

import "os/exec"

func startBound(cmd *exec.Cmd) (release func(), err error) { return func() {}, cmd.Start() }
