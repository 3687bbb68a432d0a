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

// provide returns the parts that are not there and that it cannot install.
func provide(ctx context.Context, out io.Writer, all []part) (missing []gap) {
	packages := map[string]error{} // why Debian's packages of a part, by its name, were not installed
	var wanted []part
	for _, p := range all {
		if p.present() != nil && p.debian != "" {
			wanted = append(wanted, p)
		}
	}
	if len(wanted) > 0 {
		packages = install(ctx, out, wanted)
	}
	for _, p := range all {
		err := p.present()
		if err == nil && p.ready != nil {
			err = p.ready(ctx, out)
		} else if err != nil {
			err = errors.Join(err, packages[p.name])
		}
		if err != nil {
			missing = append(missing, gap{p, err})
		}
	}
	return missing
}

// install has Debian's packages of these parts installed, where that can be done
// without asking anybody.
func install(ctx context.Context, out io.Writer, wanted []part) map[string]error {
	failed := map[string]error{}
	if err := mayInstall(); err != nil {
		for _, p := range wanted {
			failed[p.name] = err
		}
		return failed
	}
	fmt.Fprintf(out, "The tests want programs that are not here. Installs these packages, and starts no service of theirs: %s\n", debs(wanted))
	begun := time.Now()
	if err := command(ctx, "", nil, ".ci/install-servers", strings.Fields(debs(wanted))...); err != nil && len(wanted) > 1 {
		fmt.Fprintln(out, "That failed; goes on one by one.")
		for _, p := range wanted {
			if err := command(ctx, "", nil, ".ci/install-servers", strings.Fields(p.debian)...); err != nil {
				failed[p.name] = err
			}
		}
	} else if err != nil {
		failed[wanted[0].name] = err
	}
	fmt.Fprintf(out, "Installing took %s.\n", short(time.Since(begun)))
	return failed
}

// mayInstall tells why this account cannot install Debian's packages here.
func mayInstall() error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("there is no apt-get here to install it with")
	}
	if os.Geteuid() != 0 && exec.Command("sudo", "-n", "true").Run() != nil {
		return errors.New("installing it takes root, and sudo would ask for a password, or is not here")
	}
	return nil
}

func debs(parts []part) string {
	var names []string
	for _, p := range parts {
		for _, name := range strings.Fields(p.debian) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " ")
}

// printLeftOut says what is left out, why, and how to get it.
func printLeftOut(out io.Writer, missing []gap) {
	if len(missing) == 0 {
		return
	}
	fmt.Fprintln(out, "\nLeft out, for want of a part:")
	for _, g := range missing {
		fmt.Fprintf(out, "  %s: %s\n", g.name, g.what)
		fmt.Fprintf(out, "      why:    %s\n", strings.ReplaceAll(g.why.Error(), "\n", "\n              "))
		fmt.Fprintf(out, "      to get: %s\n", g.how())
	}
	fmt.Fprintln(out)
}

// how is the way to get a part on this kind of system.
func (g gap) how() string {
	if g.present() == nil {
		return "it is installed, and needs the network once, or what is said above"
	}
	if installed("apt-get") || !installed("brew") && !installed("dnf") {
		return "as root, apt-get install " + g.debian + " (Debian's name)"
	}
	if installed("brew") {
		if g.brew == "" {
			return "Homebrew has none"
		}
		return "brew install " + g.brew
	}
	var programs []string
	for _, p := range g.programs {
		name, _, _ := strings.Cut(p, "|")
		programs = append(programs, "'*/bin/"+name+"'")
	}
	return "as root, dnf install " + strings.Join(programs, " ")
}

// found names the parts that are there.
func found(missing []gap) (names []string) {
	for _, p := range parts {
		if !slices.ContainsFunc(missing, func(g gap) bool { return g.name == p.name }) {
			names = append(names, p.name)
		}
	}
	return names
}

// demand fails where a part is missing that was asked for by name, or by all.
func demand(missing []gap, names string) error {
	var lacking []string
	for _, g := range missing {
		if names == "all" || slices.Contains(strings.Split(names, ","), g.name) {
			lacking = append(lacking, g.name)
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("FRONTDESK_REQUIRE demands %s", strings.Join(lacking, ", "))
	}
	return nil
}
