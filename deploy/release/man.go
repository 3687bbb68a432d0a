package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// leaf is a command as the help lists it: its words, then what it does.
var leaf = regexp.MustCompile(`(?m)^  ([a-z]+(?: [a-z]+)*)(?:  |$)`)

// manualPage is frontdesk(1): what the program says of itself and of each command.
func manualPage(ctx context.Context, t tree, program string) ([]byte, error) {
	all, err := help(ctx, program)
	if err != nil {
		return nil, err
	}
	about, commands, found := strings.Cut(all, "\nCommands:\n")
	if !found {
		return nil, errors.New("frontdesk --help lists no commands")
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".TH FRONTDESK 1 %s \"frontdesk %s\"\n", t.time.Format("2006-01-02"), roff(strings.TrimPrefix(t.version, "v")))
	fmt.Fprintf(&b, ".SH NAME\nfrontdesk \\- a documented REST interface in front of a business administration\n")
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n.SH COMMANDS\n", roff(about))
	for _, found := range leaf.FindAllStringSubmatch(commands, -1) {
		said, err := help(ctx, program, strings.Fields(found[1])...)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ".SS frontdesk %s\n.nf\n%s\n.fi\n", found[1], roff(said))
	}
	b.WriteString(".SH SEE ALSO\nREADME.md, beside the program or in /usr/share/doc/frontdesk, says which page is for whom.\n")
	return []byte(b.String()), nil
}

// help is what the program says when asked for help with a command, in 80 columns.
func help(ctx context.Context, program string, command ...string) (string, error) {
	asked := exec.CommandContext(ctx, program, append(command, "--help")...)
	asked.Env = append(os.Environ(), "COLUMNS=80")
	said, err := asked.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s --help: %w", program, strings.Join(command, " "), err)
	}
	return strings.TrimSpace(string(said)), nil
}

// roff is a text as it stands, in a manual page.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
