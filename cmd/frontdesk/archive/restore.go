package archive

import (
	"errors"
	"fmt"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// Restore is what frontdesk restore --all is told. The backup of a client is also read from File.
type Restore struct {
	DataOnly bool   `help:"With --all: leave out configuration, keys and what the configuration names; those that are there count."`
	DryRun   bool   `help:"With --all: check the file, tell what would be written, and write nothing."`
	File     string `arg:"" placeholder:"FILE.zip" help:"A file that frontdesk backup, or POST /backup/owner, has made."`
}

// Run puts an archive of a whole installation back, or nothing of it.
func (r Restore) Run(p desk.Program) (err error) {
	a, err := Open(r.File)
	if err != nil {
		return err
	}
	defer a.Close()
	show := terminal.NewStatus(p.Stderr)
	defer show("")
	size := max(a.Bytes()>>20, 1)
	if err := a.Verify(p.Ctx, func(done int64) { show("restore: %d of %d MiB checked", done>>20, size) }); err != nil {
		return err
	}
	texts, err := a.Texts(p.Ctx)
	if err != nil {
		return err
	}
	wanted := func(part Part) bool {
		return !r.DataOnly || part.Kind != Configuration && part.Kind != Named
	}
	var others []string
	if !r.DataOnly {
		others = notOf(texts, desk.IncludedNow(texts[0]))
	}
	if !r.DryRun {
		release, err := lockAll(a)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	plan, err := a.Plan(p.Ctx, wanted, others)
	show("")
	if err != nil {
		return fmt.Errorf("%s is whole, but %w", r.File, err)
	}
	if !r.DryRun {
		if err := plan.Apply(p.Ctx, func(done int64) { show("restore: %d of %d MiB written", done>>20, size) }, func(string) {}); err != nil {
			return desk.AdviseFull(err)
		}
		r.note(p, a)
	}
	show("")
	return r.tell(p, a, plan, texts)
}

// lockAll keeps gateways from serving from what is put back.
func lockAll(a *Archive) (release func() error, err error) {
	release = func() error { return nil }
	for _, part := range a.Parts {
		if part.Kind != Store {
			continue
		}
		one, err := desk.Locked(part.Path)
		if err != nil {
			return nil, errors.Join(err, release())
		}
		before := release
		release = func() error { return errors.Join(one(), before()) }
	}
	return release, nil
}

// note has the restore in the list of acts of what was put back, where nothing is under way any
// more: the backup itself was when the database was copied.
func (r Restore) note(p desk.Program, a *Archive) {
	for _, part := range a.Parts {
		if part.Kind != Store {
			continue
		}
		own, err := sqlrecord.OpenSQLite(part.Path, sqlrecord.Options{Readers: 1})
		if err == nil {
			kept, failed := ledger.Open(p.Ctx, own)
			if failed == nil {
				failed = kept.CutOffAll(p.Ctx, time.Now())
			}
			err = errors.Join(failed, ledger.Command(p.Ctx, own, p.Stderr, "restore", "all, from "+desk.Absolute(r.File), func() error { return nil }), own.Close())
		}
		if err != nil {
			fmt.Fprintf(p.Stderr, "frontdesk: the list of acts (frontdesk acts list) does not have this restore: %v\n", err)
		}
	}
}

// notOf are the files that are none of these texts.
func notOf(texts []config.Text, files []string) (others []string) {
	of := map[string]bool{}
	for _, t := range texts {
		of[t.Path] = true
	}
	for _, file := range files {
		if !of[file] {
			others = append(others, file)
		}
	}
	return others
}

func (r Restore) tell(p desk.Program, a *Archive, plan *Plan, texts []config.Text) error {
	did := "were put back"
	if r.DryRun {
		did = "would be put back; nothing was written"
		for _, part := range plan.Files() {
			fmt.Fprintf(p.Stdout, "would write %s (%d bytes)\n", terminal.Safe(part.Path), part.Bytes)
		}
	}
	fmt.Fprintf(p.Stdout, "%s of %s as of %s %s", terminal.Several(int64(len(plan.Files())), "file"), terminal.Safe(a.Host), a.Time.Format(time.RFC3339), did)
	if n := len(plan.There); n > 0 {
		fmt.Fprintf(p.Stdout, " (%d were there already, as they are in it)", n)
	}
	fmt.Fprintln(p.Stdout)
	for _, lacks := range a.Lacks {
		fmt.Fprintf(p.Stdout, "Not in it: %s\n", terminal.Safe(lacks))
	}
	if !r.DataOnly {
		r.tellOfKeys(p, a, texts)
	}
	if !r.DryRun {
		fmt.Fprintf(p.Stdout, "Next: frontdesk check --config %s, then start it where it served before\n", terminal.Safe(a.Config))
	}
	return nil
}
