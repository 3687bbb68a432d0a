package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// gap is a part that is not to be had here.
type gap struct {
	part
	why error
}

// gaps are the parts that are left out.
type gaps struct {
	of    []gap
	apart error // why some could not be installed
}

// provide has the parts installed that are not there, where it can, and returns the
// rest.
func provide(ctx context.Context, out io.Writer, all []part) (left gaps) {
	var packages []string
	for _, p := range all {
		for _, name := range strings.Fields(p.debian) {
			if p.present() != nil && !slices.Contains(packages, name) {
				packages = append(packages, name)
			}
		}
	}
	if len(packages) > 0 {
		left.apart = install(ctx, out, packages)
	}
	for _, p := range all {
		err := p.present()
		if err == nil && p.ready != nil {
			err = p.ready(ctx, out)
		}
		if err != nil {
			left.of = append(left.of, gap{p, err})
		}
	}
	return left
}

// install has Debian's packages installed, if that can be done without asking.
func install(ctx context.Context, out io.Writer, packages []string) error {
	if !installed("apt-get") {
		return errors.New("there is no apt-get here to install with")
	}
	if os.Geteuid() != 0 && exec.Command("sudo", "-n", "true").Run() != nil {
		return errors.New("installing takes root, or a sudo that asks for no password")
	}
	fmt.Fprintf(out, "The tests want programs that are not here. Installs these packages, and starts no service of theirs: %s\n", strings.Join(packages, " "))
	begun := time.Now()
	err := command(ctx, "", nil, ".ci/install-servers", packages...)
	fmt.Fprintf(out, "Installing took %s.\n", short(time.Since(begun)))
	return err
}

// print says what is left out, why, and how to get it.
func (left gaps) print(out io.Writer) {
	if len(left.of) == 0 {
		return
	}
	fmt.Fprintln(out, "\nLeft out, for want of a part:")
	for _, g := range left.of {
		fmt.Fprintf(out, "  %s: %s\n      %s\n      to get it: %s\n", g.name, g.what, strings.ReplaceAll(g.why.Error(), "\n", "\n      "), g.how())
	}
	if left.apart != nil {
		fmt.Fprintf(out, "  What is missing was not installed: %s.\n", left.apart)
	}
	fmt.Fprintln(out)
}

// how is the way to get a part on this kind of system.
func (g gap) how() string {
	switch lacking := g.lacking(); {
	case g.present() == nil:
		return g.cure
	case installed("apt-get") || !installed("brew") && !installed("dnf"):
		return "as root, apt-get install " + g.debian + " (Debian's names)"
	case len(lacking) == 0:
		return g.cure
	case !installed("brew"):
		var files []string
		for _, programs := range lacking {
			name, _, _ := strings.Cut(programs, "|")
			files = append(files, "'*/bin/"+name+"'")
		}
		return "as root, dnf install " + strings.Join(files, " ")
	case g.brew == "":
		return "nothing: it is for Linux"
	}
	return "brew install " + g.brew
}

// there names the parts that are not left out.
func (left gaps) there() (names []string) {
	for _, p := range parts {
		if !slices.ContainsFunc(left.of, func(g gap) bool { return g.name == p.name }) {
			names = append(names, p.name)
		}
	}
	return names
}

// lack fails where a part is left out that is demanded by its name, or by all.
func (left gaps) lack(demanded string) error {
	var names []string
	for _, g := range left.of {
		if demanded == "all" || slices.Contains(strings.Split(demanded, ","), g.name) {
			names = append(names, g.name)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("FRONTDESK_REQUIRE demands %s", strings.Join(names, ", "))
	}
	return nil
}
