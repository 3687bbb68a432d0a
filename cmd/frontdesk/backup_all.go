package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/archive"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// whole writes the archive of the whole installation. A server may run beside it.
func (b backupCommand) whole(p desk.Program) error {
	out, folder, err := b.place()
	if err != nil {
		return err
	}
	c, err := b.load(p)
	if err != nil {
		return err
	}
	h, err := desk.HoldingsOf(c)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // without it the rest is told
	began := time.Now()
	m := archive.Manifest{Time: began.UTC().Truncate(time.Millisecond), Program: "frontdesk " + desk.Version(), Host: host, Config: h.Configuration[0], Lacks: h.Elsewhere}
	if folder {
		out = filepath.Join(out, m.NameAt())
	}
	own, err := h.Database.Open(p, c)
	if err != nil && h.File == "" {
		fmt.Fprintf(p.Stderr, "frontdesk: the list of acts (frontdesk acts list) does not have this backup: %v\n", err)
		m, err = b.write(p, out, m, h, nil)
		return b.tell(p, out, folder, m, began, err)
	}
	if err != nil {
		return err
	}
	defer own.Close()
	err = ledger.Command(p.Ctx, own, p.Stderr, "backup", "all, to "+desk.Absolute(out), func() (err error) {
		m, err = b.write(p, out, m, h, own)
		return err
	})
	return b.tell(p, out, folder, m, began, err)
}

// place is the file, or the folder of several archives.
func (b backupCommand) place() (out string, folder bool, err error) {
	info, err := os.Stat(b.Out)
	folder = err == nil && info.IsDir()
	if !folder && (b.Keep > 0 || strings.HasSuffix(b.Out, string(filepath.Separator))) {
		return "", false, desk.Misused("--out %s is no folder that is there, in which several backups can be kept", b.Out)
	}
	return b.Out, folder, nil
}

// write writes what an installation holds, in the order that its parts need: results are of jobs
// that the database knows, and keys are those of last.
func (b backupCommand) write(p desk.Program, out string, m archive.Manifest, h desk.Holdings, own sqlrecord.DB) (archive.Manifest, error) {
	show := terminal.NewStatus(p.Stderr)
	defer show("")
	var files []archive.Source
	add := func(kind archive.Kind, paths ...string) {
		for _, path := range paths {
			files = append(files, archive.Source{Path: path, Kind: kind})
		}
	}
	folder := func(kind archive.Kind, path string) {
		if path != "" {
			files = append(files, archive.Source{Kind: kind, Each: func() ([]string, error) { return desk.FilesIn(path) }})
		}
	}
	if h.File != "" {
		files = append(files, archive.Source{Path: h.File, Kind: archive.Store, Copy: func(ctx context.Context, to string) error {
			return sqlrecord.CopyTo(ctx, own, to, func(done, total int64) { show("backup: %d of %d pages of the database copied", done, total) })
		}})
	}
	if !b.NoResults {
		folder(archive.Result, h.Results)
	}
	folder(archive.Past, h.Past)
	files = append(files, archive.Source{Kind: archive.Past, Each: func() ([]string, error) { return []string{h.History}, nil }})
	add(archive.Named, h.Named...)
	add(archive.Configuration, h.Configuration...)
	return archive.Write(p.Ctx, out, m, files, func(done int64) { show("backup: %d MiB read", done>>20) })
}

// tell says what the archive holds, and what it does not.
func (b backupCommand) tell(p desk.Program, out string, folder bool, m archive.Manifest, began time.Time, err error) error {
	if err != nil {
		return desk.AdviseFull(err)
	}
	database := "no database"
	if m.Count(archive.Store) > 0 {
		database = "the database"
	}
	fmt.Fprintf(p.Stdout, "%s holds %s, %s of callbacks, %s, %s that it names, and %s, as of %s (%s)\n", out, database,
		terminal.Several(int64(m.Count(archive.Result)), "result"), terminal.Several(int64(m.Count(archive.Configuration)), "file")+" of the configuration with its keys",
		terminal.Several(int64(m.Count(archive.Named)), "file"), terminal.Several(int64(m.Count(archive.Past)), "file")+" of the past",
		m.Time.Format(time.RFC3339), time.Since(began).Round(time.Millisecond))
	for _, lacks := range m.Lacks {
		fmt.Fprintf(p.Stdout, "Not in it: %s\n", lacks)
	}
	if b.Keep == 0 {
		return nil
	}
	removed, err := m.Prune(b.Out, b.Keep)
	for _, file := range removed {
		fmt.Fprintf(p.Stdout, "%s was removed: --keep %d\n", file, b.Keep)
	}
	return err
}

// whole puts an archive of a whole installation back, or nothing of it.
func (r restoreCommand) whole(p desk.Program) (err error) {
	a, err := archive.Open(r.File)
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
	wanted := func(part archive.Part) bool {
		return !r.DataOnly || part.Kind != archive.Configuration && part.Kind != archive.Named
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
func lockAll(a *archive.Archive) (release func() error, err error) {
	release = func() error { return nil }
	for _, part := range a.Parts {
		if part.Kind != archive.Store {
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

// note has the restore in the list of acts of what was put back.
func (r restoreCommand) note(p desk.Program, a *archive.Archive) {
	for _, part := range a.Parts {
		if part.Kind != archive.Store {
			continue
		}
		own, err := sqlrecord.OpenSQLite(part.Path, sqlrecord.Options{Readers: 1})
		if err == nil {
			err = errors.Join(ledger.Command(p.Ctx, own, p.Stderr, "restore", "all, from "+desk.Absolute(r.File), func() error { return nil }), own.Close())
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

func (r restoreCommand) tell(p desk.Program, a *archive.Archive, plan *archive.Plan, texts []config.Text) error {
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
