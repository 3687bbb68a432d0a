package rollback

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/revisions"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// Commands are those about configurations that there were.
type Commands struct {
	Diff     diffCommand     `cmd:"" help:"Tell what is different between two configurations, by what it means."`
	History  historyCommand  `cmd:"" help:"List the configurations that a gateway had, or refused: when, by whom, and what each changed."`
	Rollback rollbackCommand `cmd:"" help:"Write the files of an earlier configuration back, but for api_keys that have ended since."`
}

// historyFlags say where the history of a gateway is.
type historyFlags struct {
	Config  string `placeholder:"FILE" help:"Configuration (YAML) of the gateway."`
	History string `placeholder:"FOLDER" help:"The folder of its history, where the configuration does not tell: /config of a running gateway does."`
}

// store finds the history. What is wrong with a configuration keeps nobody from it, unless it is
// where the history is.
func (f historyFlags) store() (revisions.Store, error) {
	if f.History != "" {
		return revisions.Store(f.History), nil
	}
	if f.Config == "" {
		return "", desk.Misused("expected --config FILE, or --history FOLDER")
	}
	c, problems, err := desk.DraftForKeys(f.Config, nil)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(problems, func(p strictyaml.Problem) bool {
		return p.File == f.Config && (p.Path == "" || strings.HasPrefix(p.Path, "backend") || strings.HasPrefix(p.Path, "webhooks"))
	}) {
		return "", desk.Misused("%s does not tell where its history is, since it cannot be read:\n%s\n--history FOLDER tells; it is beside the gateway's database, as in frontdesk.db-configs, and /config of a running gateway names it", f.Config, problems)
	}
	folder, err := desk.ConfigsFolderOf(c)
	if err == nil && folder == "" {
		err = desk.Misused("a gateway with %s keeps its history in memory only: it has no database in a file, and webhooks.folder is empty; its page /config shows it", f.Config)
	}
	return revisions.Store(desk.Absolute(folder)), err
}

// list is store with what is in it.
func (f historyFlags) list() (revisions.Store, []revisions.Revision, error) {
	store, err := f.store()
	if err != nil {
		return "", nil, err
	}
	all, err := store.List()
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no history in %s: a gateway makes it when it serves; a path that is relative is looked for in this folder", store)
	}
	return store, all, err
}

// inForce is the last one that was taken.
func inForce(all []revisions.Revision) (r revisions.Revision, err error) {
	for _, r := range slices.Backward(all) {
		if !r.Refused {
			return r, nil
		}
	}
	return r, errors.New("no configuration was taken so far")
}

type historyCommand struct {
	historyFlags
	Format string `default:"text" enum:"text,json" help:"text, or json."`
}

// Run lists the history, newest first.
func (c historyCommand) Run(p desk.Program) error {
	_, all, err := c.list()
	if err != nil {
		return err
	}
	current, _ := inForce(all)
	slices.Reverse(all)
	if c.Format == "json" {
		return terminal.WriteJSON(p.Stdout, all)
	}
	for _, r := range all {
		outcome := "was taken"
		switch {
		case r.Refused:
			outcome = "refused"
		case r.N == current.N:
			outcome = "in force"
		}
		if !r.Refused && !r.Texts {
			outcome += ", without its texts"
		}
		fmt.Fprintf(p.Stdout, "%d  %s  %s  %s  by %s\n", r.N, terminal.Second(r.At), cmp.Or(r.Digest, "not read"), outcome, terminal.Safe(byWhom(r)))
		for _, problem := range r.Problems {
			fmt.Fprintf(p.Stdout, "     ! %s\n", terminal.Safe(problem))
		}
		writeDifferences(p, r.Differences, "     ")
		if r.More > 0 {
			fmt.Fprintf(p.Stdout, "     and %d more\n", r.More)
		}
	}
	return nil
}

// byWhom is what brought a configuration, and the owners of what was written.
func byWhom(r revisions.Revision) string {
	if r.Who != "" {
		return r.Who
	}
	by := r.Trigger
	for _, f := range r.Files {
		by += fmt.Sprintf(", %s of %s", f.Path, f.Owner)
	}
	return by
}

// writeDifferences writes what is different, a line each.
func writeDifferences(p desk.Program, all []config.Difference, indent string) {
	for _, d := range all {
		line := d.Text
		if d.Key != "" {
			line = d.Key + " " + line
		}
		if d.Restart {
			line += " (after a restart)"
		}
		fmt.Fprintf(p.Stdout, "%s%s\n", indent, terminal.Safe(line))
	}
}

type diffCommand struct {
	Old string `arg:"" placeholder:"OLD" help:"A file, the number of a configuration of the history, or running: what is in force."`
	New string `arg:"" placeholder:"NEW" help:"The same."`
	historyFlags
	Format string `default:"text" enum:"text,json" help:"text, or json."`
}

// diffJSON is a comparison for programs.
type diffJSON struct {
	Old         string              `json:"old"`
	New         string              `json:"new"`
	Differences []config.Difference `json:"differences"`
}

// Run compares two configurations.
func (c diffCommand) Run(p desk.Program) error {
	before, err := c.read(c.Old)
	if err != nil {
		return err
	}
	after, err := c.read(c.New)
	if err != nil {
		return err
	}
	all := desk.Differences(before, after)
	if c.Format == "json" {
		return terminal.WriteJSON(p.Stdout, diffJSON{c.Old, c.New, append([]config.Difference{}, all...)})
	}
	if len(all) == 0 {
		fmt.Fprintln(p.Stdout, "They mean the same.")
	}
	writeDifferences(p, all, "")
	return nil
}

// read reads what an argument names.
func (c diffCommand) read(name string) (*config.Config, error) {
	n, wrong := strconv.Atoi(name)
	if wrong != nil && name != "running" {
		return desk.LoadForKeys(name)
	}
	store, all, err := c.list()
	if err != nil {
		return nil, err
	}
	if name == "running" {
		r, err := inForce(all)
		if err != nil {
			return nil, err
		}
		n = r.N
	}
	texts, err := textsOf(store, all, n)
	if _, missing := os.Stat(name); err != nil && missing == nil {
		err = fmt.Errorf("%w; for the file of that name write ./%s", err, name)
	}
	if err != nil {
		return nil, err
	}
	read, err := desk.ReadForKeys(texts)
	if err != nil {
		return nil, fmt.Errorf("configuration %d of the history cannot be read: %w", n, err)
	}
	return read, nil
}

// textsOf are the texts of a configuration of the history.
func textsOf(store revisions.Store, all []revisions.Revision, n int) ([]config.Text, error) {
	i := slices.IndexFunc(all, func(r revisions.Revision) bool { return r.N == n })
	switch {
	case i < 0:
		return nil, desk.Misused("there is no configuration %d in the history, which has %d to %d", n, all[0].N, all[len(all)-1].N)
	case all[i].Refused:
		return nil, desk.Misused("configuration %d was refused, and its texts are not kept; frontdesk config history tells what was wrong with it, and what it would have changed", n)
	}
	return store.Texts(n)
}

type rollbackCommand struct {
	N int `arg:"" placeholder:"N" help:"The number of the configuration, as frontdesk config history lists it."`
	historyFlags
	DryRun bool          `help:"Show everything, and change nothing."`
	Anyway bool          `help:"Do it although requests of the access logs would be newly refused."`
	Since  terminal.When `placeholder:"WHEN" help:"Of the access logs read only what is newer: 14d, 36h, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs   []string      `arg:"" optional:"" name:"log" help:"Access logs, to tell what would be refused of what was asked, as frontdesk whatif does."`
}

func (rollbackCommand) Help() string {
	return "An api_key or a hash that was removed, revoked or has expired since then stays ended, also if the earlier files have it: its end is written into them, and told. Other secrets and client certificates of that time come back, and are named first. Files that the earlier configuration did not have are kept beside under another name, NAME.bak. Everything else, comments too, is as it was. It is judged as frontdesk check does, with its expectations, before anything is written."
}

// Run goes back.
func (c rollbackCommand) Run(p desk.Program) error {
	if c.Config == "" {
		return desk.Misused("expected --config FILE, which is to be written")
	}
	store, all, err := c.list()
	if err != nil {
		return err
	}
	plan, err := c.plan(store, all)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "From what is in force to configuration %d:\n", c.N)
	writeDifferences(p, plan.Differences, "  ")
	if len(plan.Differences) == 0 {
		fmt.Fprintln(p.Stdout, "  nothing: they mean the same")
	}
	for _, e := range plan.Ended {
		fmt.Fprintf(p.Stdout, "Stays ended: hash %s… of %s, %s, since it %s.\n", e.SHA256, e.Key, e.End, terminal.Safe(e.Why))
	}
	if len(plan.Returning) > 0 {
		fmt.Fprintf(p.Stdout, "Comes back as configuration %d had it: %s. What was exchanged since because others know it, exchange again.\n", c.N, terminal.Safe(strings.Join(plan.Returning, ", ")))
	}
	for _, path := range plan.Broken {
		fmt.Fprintf(p.Stdout, "%s cannot be read as it is: if somebody ended an api_key in it that is still in force, end it again afterwards.\n", terminal.Safe(path))
	}
	for _, f := range plan.Files {
		if f.Aside != "" {
			fmt.Fprintf(p.Stdout, "%s was not there: it is kept as %s.\n", terminal.Safe(f.Path), terminal.Safe(f.Aside))
		} else {
			fmt.Fprintf(p.Stdout, "%s is written.\n", terminal.Safe(f.Path))
		}
	}
	if err := c.whatif(p, plan); err != nil {
		return err
	}
	switch {
	case len(plan.Files) == 0:
		fmt.Fprintln(p.Stdout, "The files are like this already: nothing was changed.")
		return nil
	case c.DryRun:
		_, err = fmt.Fprintln(p.Stderr, "Nothing was changed (--dry-run).")
		return err
	}
	whom := fmt.Sprintf("configuration %d (%s)", c.N, plan.Config.Hash())
	if err := c.noting(p, plan.Config, "config rollback", whom, plan.Apply); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "Done: the files are those of configuration %d. A frontdesk that serves takes them up by itself, or on SIGHUP: /readyz has no config.error then.\n", c.N)
	return err
}

// plan judges what is to be done.
func (c rollbackCommand) plan(store revisions.Store, all []revisions.Revision) (*Plan, error) {
	texts, err := textsOf(store, all, c.N)
	if err != nil {
		return nil, err
	}
	current, err := inForce(all)
	if err != nil {
		return nil, err
	}
	serving, err := store.Texts(current.N)
	if err != nil {
		return nil, fmt.Errorf("%w: so nobody knows which api_keys have ended", err)
	}
	return Prepare(c.Config, texts, serving, time.Now())
}

// whatif tells what would be refused of what the logs have, which ends it unless it is wanted.
func (c rollbackCommand) whatif(p desk.Program, plan *Plan) error {
	if len(c.Logs) == 0 {
		return nil
	}
	lists, err := allowlist.Of(plan.Config, desk.ProductionEnvironment)
	if err != nil {
		return err
	}
	used, err := allowlist.ReadUsed(p.Ctx, accesslog.Logs{Names: c.Logs, Stdin: p.Stdin, Screen: p.Stderr}, c.Since.From(time.Now()), "")
	if err != nil {
		return err
	}
	w := lists.WhatIf(used, time.Now())
	w.Config = fmt.Sprintf("configuration %d", c.N)
	if err := w.Write(p.Stdout); err != nil {
		return err
	}
	if refused := w.NewlyRefused(); refused != "" && !c.Anyway {
		return fmt.Errorf("%s would be newly refused, so nothing was changed; --anyway does it all the same", refused)
	}
	return nil
}

// noting does something that the list of acts is to have. It is done, too, where the gateway's
// database does not answer: what is broken has to be mended all the same.
func (c rollbackCommand) noting(p desk.Program, of *config.Config, what, whom string, do func() error) error {
	withSpare := func() error { return desk.WithSpare(desk.DatabaseFileOf(of), do) }
	database, err := desk.DatabaseOf(of)
	var own sqlrecord.DB
	if err == nil {
		own, err = database.Open(p, of)
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "frontdesk: the list of acts (frontdesk acts list) does not have this: %v\n", err)
		return withSpare()
	}
	defer own.Close()
	return ledger.Command(p.Ctx, own, p.Stderr, what, whom, withSpare)
}
