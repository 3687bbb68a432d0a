package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// Change is a change of one api_key. The key's own file is written anew, once the configuration
// has been loaded with the new text in its place. Any other file is left to the operator, who is
// told what to write.
type Change struct {
	before *config.Config
	load   func(written map[string][]byte) error
	beside strictyaml.Problems // of other files, for which no gateway takes the change up yet

	file   string // that has the key, or is to have it
	name   string
	change func(*config.Key) // a key that is new has nothing yet
	byHand string            // what to do in any other file, as a sentence after "In FILE, "

	first   string // what is told when the file is written, and only then, such as an api_key
	closing string // what is told of the change itself
}

// errByHand is wrapped if a file is not written by this program.
var errByHand = errors.New("this file is changed by hand only")

// Apply makes the change.
func (k *Change) Apply(p desk.Program) error {
	err := k.write()
	unsure := err
	switch {
	case errors.Is(err, errByHand):
		fmt.Fprint(p.Stdout, k.first)
		return fmt.Errorf("%w\nNothing was changed. In %s, %s", err, k.file, k.byHand)
	case err != nil && !errors.Is(err, atomicfile.ErrUnsure):
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if len(k.beside) > 0 {
		fmt.Fprint(p.Stdout, k.first)
		return errors.Join(fmt.Errorf("%s changed, but a frontdesk that serves goes on with the configuration before, until this is mended as well:\n%s", k.file, k.beside), unsure, k.tellOthers(p))
	}
	_, err = fmt.Fprintf(p.Stdout, "%s%s%s changed. A frontdesk that serves takes it up by itself, or on SIGHUP: /readyz has no config.error then.\n", k.first, k.closing, k.file)
	return errors.Join(err, unsure, k.tellOthers(p))
}

// tellOthers tells the gateways that share a database what has ended, and the operator that each
// goes by its own files but for that.
func (k *Change) tellOthers(p desk.Program) error {
	before := config.Key{}
	if key, err := existing(k.before, k.name); err == nil {
		before = *key
	}
	after := before
	k.change(&after)
	gateways, err := desk.TellKeyChange(p, k.before, before, after)
	switch {
	case err != nil:
		_, err = fmt.Fprintf(p.Stderr, "Other gateways of the service could not be told: %s\nEach of them goes by its own files: see that this one changes for all.\n", k.before.Hide(err.Error()))
	case len(gateways) > 1:
		_, err = fmt.Fprintf(p.Stdout, "%d gateways share the database: %s. All refuse what has ended by this; for all else each goes by its own files, so bring this one to all of them.\n", len(gateways), strings.Join(gateways, ", "))
	}
	return err
}

// write puts the new file in place, if the configuration is right with it.
func (k *Change) write() error {
	if k.file == k.before.Files()[0] {
		return fmt.Errorf("%s: a key is written into a file of its own only, which include names as keys.d/*.yaml does; %w", k.file, errByHand)
	}
	file, err := filepath.EvalSymlinks(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = k.file, nil
	}
	if err != nil {
		return err
	}
	src, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := k.anew(src)
	if err != nil {
		return fmt.Errorf("%s: %w; %w", k.file, err, errByHand)
	}
	if err := k.load(map[string][]byte{k.file: text}); err != nil {
		return err
	}
	return desk.WithSpare(desk.DatabaseFileOf(k.before), func() error { return atomicfile.Replace(file, src, text) })
}

// anew is the text of a file that has the key and nothing else. There is no file yet where src
// is nil.
func (k *Change) anew(src []byte) ([]byte, error) {
	file := &config.KeyFile{}
	if src != nil {
		var err error
		if file, err = config.ReadKeyFile(src, k.before.Server.TimeZone.Location); err != nil {
			return nil, err
		}
		if file.Key.Name != k.name {
			return nil, fmt.Errorf("its key is %s", strictyaml.Quote(file.Key.Name))
		}
	}
	k.change(&file.Key)
	return []byte(file.String()), nil
}
