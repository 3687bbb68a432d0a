package archive

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// Backup is what frontdesk backup --all is told. The backup of a client is also written to Out.
type Backup struct {
	Out       string `required:"" placeholder:"FILE.zip" help:"The file to write; one that is there is replaced when the new one is complete. With --all also a folder that is there, for a file named by the time."`
	Keep      int    `placeholder:"N" help:"Of all backups of this installation in the folder, remove those before the newest N, once the new one is complete."`
	NoResults bool   `help:"Leave out results of callbacks, which clients then ask for again."`
}

// Run writes the archive of the whole installation that a configuration is of. A server may run
// beside it.
func (b Backup) Run(p desk.Program, c *config.Config) error {
	out, folder, err := b.place()
	if err != nil {
		return err
	}
	h, err := desk.HoldingsOf(c)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // without it the rest is told
	began := time.Now()
	m := Manifest{Time: began.UTC().Truncate(time.Millisecond), Program: "frontdesk " + desk.Version(), Host: host, Config: h.Configuration[0], Lacks: h.Elsewhere}
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
func (b Backup) place() (out string, folder bool, err error) {
	info, err := os.Stat(b.Out)
	folder = err == nil && info.IsDir()
	if !folder && (b.Keep > 0 || strings.HasSuffix(b.Out, string(filepath.Separator))) {
		return "", false, desk.Misused("--out %s is no folder that is there, in which several backups can be kept", b.Out)
	}
	return b.Out, folder, nil
}

// write writes what an installation holds, in the order that its parts need: results are of jobs
// that the database knows, and keys are those of last.
func (b Backup) write(p desk.Program, out string, m Manifest, h desk.Holdings, own sqlrecord.DB) (Manifest, error) {
	show := terminal.NewStatus(p.Stderr)
	defer show("")
	var files []Source
	add := func(kind Kind, paths ...string) {
		for _, path := range paths {
			files = append(files, Source{Path: path, Kind: kind})
		}
	}
	folder := func(kind Kind, path string) {
		if path != "" {
			files = append(files, Source{Kind: kind, Each: func() ([]string, error) { return desk.FilesIn(path) }})
		}
	}
	if h.File != "" {
		files = append(files, Source{Path: h.File, Kind: Store, Copy: func(ctx context.Context, to string) error {
			return sqlrecord.CopyTo(ctx, own, to, func(done, total int64) { show("backup: %d of %d pages of the database copied", done, total) })
		}})
	}
	if !b.NoResults {
		folder(Result, h.Results)
	}
	folder(Past, h.Past)
	files = append(files, Source{Kind: Past, Each: func() ([]string, error) { return []string{h.History}, nil }})
	add(Named, h.Named...)
	add(Configuration, h.Configuration...)
	return Write(p.Ctx, out, m, files, func(done int64) { show("backup: %d MiB read", done>>20) })
}

// tell says what the archive holds, and what it does not.
func (b Backup) tell(p desk.Program, out string, folder bool, m Manifest, began time.Time, err error) error {
	if err != nil {
		return desk.AdviseFull(err)
	}
	database := "no database"
	for _, part := range m.Parts {
		if part.Kind == Store { // by its path, since one in the configuration may be relative to the folder of the command
			database = "the database " + terminal.Safe(part.Path)
		}
	}
	fmt.Fprintf(p.Stdout, "%s holds %s, %s of callbacks, %s, %s that it names, and %s, as of %s (%s)\n", out, database,
		terminal.Several(int64(m.Count(Result)), "result"), terminal.Several(int64(m.Count(Configuration)), "file")+" of the configuration with its keys",
		terminal.Several(int64(m.Count(Named)), "file"), terminal.Several(int64(m.Count(Past)), "file")+" of the past",
		m.Time.Format(time.RFC3339), time.Since(began).Round(time.Millisecond))
	for _, lacks := range m.Lacks {
		fmt.Fprintf(p.Stdout, "Not in it: %s\n", lacks)
	}
	for _, work := range m.remains {
		fmt.Fprintf(p.Stderr, "frontdesk: %s is left of a backup that was killed, and this user may not remove it; as root: rm -r %s\n", terminal.Safe(work), terminal.Safe(desk.Quoted(work)))
	}
	if b.Keep == 0 {
		return nil
	}
	removed, left, err := m.Prune(b.Out, b.Keep)
	for _, file := range removed {
		fmt.Fprintf(p.Stdout, "%s was removed: --keep %d\n", file, b.Keep)
	}
	for _, what := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(p.Stdout, "--keep %d left %s %s\n", b.Keep, terminal.Several(int64(left[what]), "archive"), what)
	}
	return err
}
