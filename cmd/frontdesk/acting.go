package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// actLine is a line of the audit log, as a gateway writes those of requests.
type actLine struct {
	Level   string `json:"level"`
	At      string `json:"ts"`
	Logger  string `json:"logger"`
	Message string `json:"msg"`
	What    string `json:"what"` // as "user block"
	Whom    string `json:"whom"` // object of the act: a user, a client, a job
	Who     string `json:"who"`
	From    string `json:"from"`
	Outcome string `json:"outcome"`
}

// acting does something by a command, and tells on stderr who did it, in a line for the audit log.
// It has no secret in it.
func acting(stderr io.Writer, what, whom string, do func() error) error {
	err := do()
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	_ = terminal.WriteJSONLine(stderr, actLine{ // the act matters more than its line
		Level: "info", At: time.Now().Format("2006-01-02T15:04:05.000Z0700"), Logger: "audit", Message: "act",
		What: what, Whom: whom, Who: whoActs(), From: whereFrom(), Outcome: outcome,
	})
	return err
}

// whoActs is the user of the system that runs the command, and for whom, as sudo has it. The
// system vouches for the first; the second anybody can set who may run the command.
func whoActs() string {
	name := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" && by != name {
		name += " (sudo of " + by + ")"
	}
	return name
}

// whereFrom is the host, and where its user has logged in from.
func whereFrom() string {
	host, _ := os.Hostname() // without it the rest is told
	all := []string{cmp.Or(host, "host unknown")}
	if from, _, over := strings.Cut(os.Getenv("SSH_CONNECTION"), " "); over {
		all = append(all, "ssh from "+from)
	}
	return strings.Join(all, ", ")
}
