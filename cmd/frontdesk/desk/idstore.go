package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"frontdesk/backend/idstore"
	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/mapping/sheet"
)

// ownFile returns the SQLite file of the gateway's own database for a mapped system; "" for PostgreSQL.
// It fails if the file is gone although it had IDs that clients know.
func ownFile(sh *sheet.Sheet) (string, error) {
	file := sheetDatabase(sh).file()
	if file == "" {
		return "", nil
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if noted, err := notedStore(sh); err != nil || noted != "" {
			return "", cmp.Or(err, lostStore(sh, fmt.Errorf("the id store %s is not there", file)))
		}
	}
	return file, nil
}

// openStore opens the id store in the gateway's own database. It fails if that is not the
// store whose IDs clients know.
func openStore(ctx context.Context, sh *sheet.Sheet, own *OwnDatabase, log *zap.Logger) (*idstore.Store, error) {
	noted, err := notedStore(sh)
	if err != nil {
		return nil, err
	}
	store, err := idstore.Open(ctx, own.Db, idstore.Options{Now: time.Now, ID: noted, IgnoreCase: sh.KeysWithoutCase(), Log: log})
	switch {
	case errors.Is(err, idstore.ErrOther):
		return nil, lostStore(sh, fmt.Errorf("keep of %s is %w", sh.File, err))
	case err == nil && noted == "" && sh.NeedsKeep():
		noteStore(sh, store.ID(), log)
	}
	return store, err
}

// noteOf names the small file beside the sheet that says which id store has the IDs that clients know. The
// note stays with the configuration, whatever happens to the store.
func noteOf(sh *sheet.Sheet) string { return sidecar(sh, "-keep.id") }

// sidecar names a file that belongs to a sheet.
func sidecar(sh *sheet.Sheet, suffix string) string {
	return strings.TrimSuffix(sh.File, filepath.Ext(sh.File)) + suffix
}

// noteWords is the text of a note, below the UUID.
const noteWords = "This is the id store whose IDs clients of this frontdesk know. It belongs with the sheet;\ndocs/vendors.md tells what for.\n"

// notedStore returns the UUID of the store whose IDs clients know; "" if no store is noted, or
// the sheet has no keys that need IDs.
func notedStore(sh *sheet.Sheet) (string, error) {
	if !sh.NeedsKeep() {
		return "", nil
	}
	text, err := os.ReadFile(noteOf(sh))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("which id store is that of %s: %w", sh.File, err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	id, err := uuid.Parse(strings.TrimSpace(first))
	if err != nil {
		return "", fmt.Errorf("%s: expected the UUID of an id store on its first line, found %q: restore the file, or remove it to go on with the store that is there", noteOf(sh), first)
	}
	return id.String(), nil
}

// lostStore adds to an error what to do if the store is not the one in the note.
func lostStore(sh *sheet.Sheet, err error) error {
	noted, _ := notedStore(sh)
	return fmt.Errorf("%w; the IDs that clients know are in the store %s, says %s: restore it from its backup. "+
		"If it is lost for good, remove %[3]s: the IDs that clients know are then not found, and all records get new ones", err, noted, noteOf(sh))
}

// noteStore writes the note of a store.
func noteStore(sh *sheet.Sheet, id string, log *zap.Logger) {
	fields := []zap.Field{zap.String("file", noteOf(sh)), zap.String("store", id)}
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, id+"\n\n"+noteWords)
		return err
	}
	if err := atomicfile.Write(noteOf(sh), 0o644, write); err != nil {
		log.Warn("the id store cannot be noted beside the sheet, so that nobody would notice its loss: write its UUID into the file", append(fields, zap.Error(err))...)
		return
	}
	log.Info("the id store has been noted beside the sheet", fields...)
}
