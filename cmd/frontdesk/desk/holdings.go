package desk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"frontdesk/config"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Holdings are what an installation consists of, by absolute paths.
type Holdings struct {
	Database      Database // the gateway's own
	File          string   // of it; "" where it is none
	Results       string   // folder of those of callback jobs; "" where there is none
	Past          string   // folder of the configurations that there were; "" where there is none
	History       string   // file; "" where there is none
	Named         []string // by the configuration: sheet, model, certificates
	Configuration []string // with api_keys, the main file first
	Elsewhere     []string // what belongs to it and is not in files of its own, and what to do about it
}

// HoldingsOf finds what an installation consists of. Nothing is opened.
func HoldingsOf(c *config.Config) (h Holdings, err error) {
	var sh *sheet.Sheet
	if c.Backend.BySheet() {
		if sh, err = sheetOf(c); err != nil {
			return h, err
		}
		h.Named = append(h.Named, sh.File)
		if noted, err := notedStore(sh); err != nil || noted != "" {
			h.Named = append(h.Named, noteOf(sh))
		}
		h.Elsewhere = append(h.Elsewhere, fmt.Sprintf("the system behind %s: back it up first, and this after it, so that the IDs here are never older than its records", Absolute(sh.File)))
	}
	if h.Database, err = DatabaseOf(c); err != nil {
		return h, err
	}
	h.Configuration = slices.Clone(c.Files())
	h.Named = append(h.Named, c.Server.TLS.CertFile, c.Server.TLS.KeyFile, c.Server.TLS.ClientCAFile, c.Sessions.CAFile, c.Webhooks.CAFile)
	if c.Model.Dir != "" {
		model, err := mapping.ResourceFiles(c.Model.Dir)
		if err != nil {
			return h, err
		}
		h.Named = append(h.Named, model...)
	}
	if h.File = h.Database.file(); h.File == "" {
		h.Elsewhere = append(h.Elsewhere, "the database "+h.Database.String()+": "+dumpOf(h.Database.dsn))
	}
	h.Results, h.Past = resultsFolder(c.Webhooks, h.File), configsFolder(h.File, c.Webhooks.Folder)
	h.History = historyFile(c.Ops.History, h.File)
	for _, path := range []*string{&h.File, &h.Results, &h.Past, &h.History} {
		if *path != "" {
			*path = Absolute(*path)
		}
	}
	return h, errors.Join(h.lookForMissing(), h.lookForVariables())
}

// lookForMissing leaves out files that are named and not there, and tells of them.
func (h *Holdings) lookForMissing() error {
	named := h.Named
	h.Named = nil
	for i, file := range slices.Concat(h.Configuration, named) {
		if file == "" {
			continue
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			h.Elsewhere = append(h.Elsewhere, path+", which the configuration names and which is not there")
		case i < len(h.Configuration):
			h.Configuration[i] = path
		case !slices.Contains(h.Named, path):
			h.Named = append(h.Named, path)
		}
	}
	return nil
}

// lookForVariables tells that the configuration has values that are in no file of it.
func (h *Holdings) lookForVariables() error {
	for _, file := range h.Configuration {
		text, err := readRegular(file)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(strings.Split(string(text), "\n"), hasVariable) {
			h.Elsewhere = append(h.Elsewhere, "what the variables in "+file+" stand for: back up what sets them, such as secrets.env beside it")
		}
	}
	return nil
}

// hasVariable tells whether a line that is no comment has one.
func hasVariable(line string) bool {
	return strings.Contains(line, "${") && !strings.HasPrefix(strings.TrimSpace(line), "#")
}

// dumpOf is the command that dumps a PostgreSQL database. It asks for the password, or has it from
// where PostgreSQL's programs look.
func dumpOf(dsn string) string {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "pg_dump dumps it"
	}
	return fmt.Sprintf("pg_dump --format=custom --file=frontdesk.dump --host=%s --port=%d --username=%s %s", Quoted(c.Host), c.Port, Quoted(c.User), Quoted(c.Database))
}

// FilesIn are the files in a folder that are whole; none where there is no such folder.
func FilesIn(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), ".part") {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files, err
}

// Locked keeps gateways from serving from a SQLite file until it is released. It fails if one
// does. Where none ever did, nothing is locked.
func Locked(file string) (release func() error, err error) {
	if _, err := os.Stat(lockOf(file)); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	release, err = webhook.LockFile(lockOf(file))
	if errors.Is(err, webhook.ErrLocked) {
		return nil, fmt.Errorf("a frontdesk serves from %s: stop it first; nothing was written", file)
	}
	return release, err
}
