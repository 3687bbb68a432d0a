package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/mapping"
)

type backupCommand struct {
	administration
	Client string `required:"" placeholder:"NAME" help:"The client (customer) whose records to back up."`
	Out    string `required:"" placeholder:"FILE.zip" help:"The file to write; one that is there is replaced when the new one is complete."`
}

// Run writes the backup. A server may be running.
func (b backupCommand) Run(p desk.Program) error {
	store, err := b.open(p)
	if err != nil {
		return err
	}
	defer store.Close()
	client, err := store.FindClient(p.Ctx, b.Client)
	if err != nil {
		return store.unknown(b.Client, err)
	}
	began := time.Now()
	var m backend.Manifest
	err = acting(p.Stderr, "backup", fmt.Sprintf("client %s, to %s", client.Name, desk.Absolute(b.Out)), func() error {
		return atomicfile.Write(b.Out, 0o600, func(w io.Writer) error {
			m, err = store.Export(p.Ctx, client, w)
			return err
		})
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s holds %d records of client %s as of %s (%s)\n",
		b.Out, m.Records(), terminal.Safe(m.Client), m.Time.Format(time.RFC3339), time.Since(began).Round(time.Millisecond))
	return err
}

type restoreCommand struct {
	administration
	Client string `required:"" placeholder:"NAME" help:"The client (customer) to restore, which must have no records; it is added where it is new."`
	File   string `arg:"" placeholder:"FILE.zip" help:"A file that frontdesk backup, or POST /backup/owner, has made."`
	Rename bool   `help:"The backup is of another client, whose records this one is to get."`
	Legacy bool   `help:"Take records that the model would refuse today."`
}

// Run judges the file and then restores all of it, or nothing.
func (r restoreCommand) Run(p desk.Program) error {
	if !mapping.IsPlain(r.Client) { // the audit log gets the name
		return desk.Misused("--client %q: %w", r.Client, reference.ErrName)
	}
	file, err := os.Open(r.File)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	store, err := r.open(p)
	if err != nil {
		return err
	}
	defer store.Close()
	began, show := time.Now(), terminal.NewStatus(p.Stderr)
	var m backend.Manifest
	err = acting(p.Stderr, "restore", fmt.Sprintf("client %s, from %s", r.Client, desk.Absolute(r.File)), func() (err error) {
		defer show("")
		m, err = reference.Restore(p.Ctx, store.Store, file, info.Size(), reference.RestoreOptions{
			Client: r.Client, Rename: r.Rename, Legacy: r.Legacy,
			MaxLine:  max(4*int64(store.config.Server.BodyLimit), 64<<20), // several fields of a record may each have filled a body
			Progress: func(done, total int64) { show("restore: %d %% done", 100*done/max(total, 1)) },
		})
		return err
	})
	switch {
	case errors.Is(err, reference.ErrOtherClient):
		return fmt.Errorf("%s: %w; --rename restores it all the same", r.File, err)
	case errors.Is(err, reference.ErrLegacyRecord):
		return fmt.Errorf("%s: %w; --legacy takes records from before the model was changed", r.File, err)
	case err != nil:
		return fmt.Errorf("%s: %w", r.File, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "client %s has %d records again, as of %s (%s)\nUsers are no records: frontdesk user list shows who can log in.\n",
		terminal.Safe(r.Client), m.Records(), m.Time.Format(time.RFC3339), time.Since(began).Round(time.Millisecond))
	return err
}

type migrateCommand struct{ configFlag }

// Run migrates the tables to this version, as serve does at its start, however long that
// takes. It logs to standard error what it waits for.
func (m migrateCommand) Run(p desk.Program) (err error) {
	c, err := desk.LoadConfig(m.Config)
	if err != nil {
		return err
	}
	logs, err := desk.NewPlainLogs(p.Stderr)
	if err != nil {
		return err
	}
	defer logs.Stop()
	in, err := desk.DatabaseOf(c)
	if err != nil {
		return err
	}
	begun := time.Now()
	s, err := desk.OpenSystem(p.Ctx, c, auth.NewHasher(), logs.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := jobstore.Open(p.Ctx, s.Own.Db); err != nil {
		return err
	}
	if _, err := neighbours.Open(p.Ctx, s.Own.Db); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "the tables of %s are those of this version (%s)\n", in, time.Since(begun).Round(time.Millisecond))
	return err
}
