package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// mapCommands are the tools for writing a mapping sheet.
type mapCommands struct {
	Init  initCommand  `cmd:"" help:"Draft a first sheet out of the schema of a database, or the OpenAPI description of an HTTP service."`
	Brief briefCommand `cmd:"" help:"Write all that a colleague or a coding assistant needs to write the sheet, as one Markdown file."`
	Check checkCommand `cmd:"" help:"Compare a sheet with its database or service; nothing is written without --write."`
}

// sheetFlags name a sheet, directly or by the configuration that uses it.
type sheetFlags struct {
	Sheet    string `xor:"sheet" required:"" placeholder:"FILE" help:"Mapping sheet (YAML)."`
	Config   string `xor:"sheet" required:"" placeholder:"FILE" help:"Configuration whose backend.sheet it is."`
	ModelDir string `name:"model-dir" placeholder:"DIR" help:"Folder of resource files over the built-in ones (with --sheet)."`
}

// find returns the file of the sheet, the model that it is judged by, and the time zone of
// clients' dates; nil without a configuration.
func (f sheetFlags) find() (file string, model *mapping.Model, zone *time.Location, err error) {
	file, dir := f.Sheet, f.ModelDir
	if f.Config != "" {
		c, err := desk.LoadConfig(f.Config)
		if err != nil {
			return "", nil, nil, err
		}
		if !c.Backend.BySheet() {
			return "", nil, nil, desk.Misused("%s: backend.driver is %s, expected legacy or remote, which have a sheet", f.Config, c.Backend.Driver)
		}
		file, dir, zone = c.Backend.Sheet, c.Model.Dir, c.Server.TimeZone.Location
	}
	model, err = mapping.LoadModel(dir)
	return file, model, zone, err
}

// load reads the sheet. Its error has all problems of the sheet.
func (f sheetFlags) load() (*sheet.Sheet, *mapping.Model, error) {
	file, model, zone, err := f.find()
	if err != nil {
		return nil, nil, err
	}
	s, err := desk.LoadSheet(file, model, zone)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		err = desk.Misused("%w", err)
	}
	return s, model, err
}

// openScratch opens a temporary store of IDs, in a database in a folder of its own. release deletes both.
func openScratch(ctx context.Context, s *sheet.Sheet) (k *idstore.Store, db sqlrecord.DB, release func() error, err error) {
	dir, err := os.MkdirTemp("", "frontdesk-map-")
	if err != nil {
		return nil, nil, nil, err
	}
	db, err = sqlrecord.OpenSQLite(filepath.Join(dir, "keep.db"), sqlrecord.Options{})
	if err != nil {
		return nil, nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	release = func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }
	if k, err = idstore.Open(ctx, db, idstore.Options{Now: time.Now, IgnoreCase: s.KeysWithoutCase()}); err != nil {
		return nil, nil, nil, errors.Join(err, release())
	}
	return k, db, release, nil
}
