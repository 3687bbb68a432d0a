package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// Change is a change of one api_key. If the key has a file of its own, that is written anew,
// once the loader that serve uses has read what is intended from the new text. Any other file
// is left to the operator, who is told what to write, unless the change knows which lines of it
// to edit.
type Change struct {
	config string // the main file
	before *config.Config
	load   func(file string) (*config.Config, error)
	beside strictyaml.Problems // of other files, for which no gateway takes the change up yet

	file   string // that has the key, or is to have it
	name   string
	change func(*config.Key)                // a key that is new has nothing yet
	byHand string                           // what to do in any other file, as a sentence after "In FILE, "
	edit   func(src []byte) ([]byte, error) // edits the text of any file; nil where one of the key alone is written anew

	nothing bool                             // there is nothing to change
	judge   func(after *config.Config) error // see JudgedBy

	first   string // what is told when the file is written, and only then, such as an api_key
	closing string // what is told of the change itself
}

// errByHand is wrapped if a file is not written by this program.
var errByHand = errors.New("this file is changed by hand only")

// JudgedBy has somebody else look at the configuration that a change leads to, before
// anything is written. An error keeps it from being written.
func (k *Change) JudgedBy(judge func(after *config.Config) error) { k.judge = judge }

// Apply makes the change, or shows it.
func (k *Change) Apply(p desk.Program, dryRun bool) error {
	if k.nothing {
		_, err := fmt.Fprintf(p.Stdout, "%sNothing is to be changed.\n", k.closing)
		return err
	}
	file, err := filepath.EvalSymlinks(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = k.file, nil
	}
	if err != nil {
		return err
	}
	src, err := os.ReadFile(file)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return err
	}
	text, after, err := k.text(src, isNew)
	switch {
	case errors.Is(err, errByHand) && dryRun:
		return fmt.Errorf("%w\nWithout --dry-run this command prints what to write", err)
	case errors.Is(err, errByHand):
		fmt.Fprint(p.Stdout, k.first)
		return fmt.Errorf("%w\nNothing was changed. In %s, %s", err, k.file, k.byHand)
	case err != nil:
		return err
	}
	if dryRun {
		fmt.Fprint(p.Stdout, difference(k.file, src, text))
	}
	if k.judge != nil {
		if err := k.judge(after); err != nil {
			return fmt.Errorf("%w; nothing was changed", err)
		}
	}
	if dryRun {
		note := "Nothing was changed (--dry-run)."
		if k.first != "" {
			note += " The hash is that of an api_key that nobody gets; another is made when it is done."
		}
		_, err = fmt.Fprintln(p.Stderr, note)
		return err
	}
	unsure := desk.WithSpare(desk.DatabaseFileOf(k.before), func() error { return atomicfile.Replace(file, src, text) })
	if unsure != nil && !errors.Is(unsure, atomicfile.ErrUnsure) {
		return fmt.Errorf("%w; nothing was changed", unsure)
	}
	if len(k.beside) > 0 {
		return errors.Join(fmt.Errorf("%s changed, but a frontdesk that serves goes on with the configuration before, until this is mended as well:\n%s", k.file, k.beside), unsure)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s%s%s changed. A frontdesk that serves takes it up by itself, or on SIGHUP: /readyz has no config.error then.\n", k.first, k.closing, k.file)
	return errors.Join(err, unsure)
}

// text is the file anew, and after the configuration with it: it was loaded, and has the
// intended meaning.
func (k *Change) text(src []byte, isNew bool) (text []byte, after *config.Config, err error) {
	if k.edit != nil {
		if text, err = k.edit(src); err != nil {
			return nil, nil, fmt.Errorf("%s: %w; %w", k.file, err, errByHand)
		}
	} else if text, err = k.anew(src, isNew); err != nil {
		return nil, nil, err
	}
	if after, err = k.loadWith(text); err != nil {
		return nil, nil, err
	}
	if changes := config.Changes(k.meant(), after); len(changes) > 0 {
		return nil, nil, fmt.Errorf("%s: written anew it would not mean what was meant (%s); %w", k.file, changes[0], errByHand)
	}
	return text, after, nil
}

// anew writes a file that has the key and nothing else.
func (k *Change) anew(src []byte, isNew bool) ([]byte, error) {
	file := &config.KeyFile{}
	if !isNew {
		var err error
		if file, err = config.ReadKeyFile(src, k.before.Server.TimeZone.Location); err != nil {
			return nil, fmt.Errorf("%s: %w; %w", k.file, err, errByHand)
		}
	}
	k.change(&file.Key)
	return []byte(file.String()), nil
}

// meant is the configuration that is intended.
func (k *Change) meant() *config.Config {
	meant := *k.before
	meant.APIKeys = slices.Clone(meant.APIKeys)
	i := slices.IndexFunc(meant.APIKeys, func(key config.Key) bool { return key.Name == k.name })
	if i < 0 {
		i = len(meant.APIKeys)
		meant.APIKeys = append(meant.APIKeys, config.Key{})
	}
	k.change(&meant.APIKeys[i])
	return &meant
}

// loadWith loads the configuration as if the key's file had that text: from a copy of its
// folders that contains the text, and links to all other files.
func (k *Change) loadWith(text []byte) (*config.Config, error) {
	dir, err := os.MkdirTemp("", "frontdesk-key-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, path := range append([]string{k.file}, k.before.Files()...) {
		original, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		mirrored := filepath.Join(dir, original)
		if err := os.MkdirAll(filepath.Dir(mirrored), 0o700); err != nil {
			return nil, err
		}
		if path == k.file {
			err = os.WriteFile(mirrored, text, 0o600)
		} else {
			err = os.Symlink(original, mirrored)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	main, err := filepath.Abs(k.config)
	if err != nil {
		return nil, err
	}
	c, err := k.load(filepath.Join(dir, main))
	if problems, ok := errors.AsType[strictyaml.Problems](err); ok {
		for i := range problems { // they are about the files that are mirrored
			problems[i].File = strings.TrimPrefix(problems[i].File, dir)
			problems[i].Message = strings.ReplaceAll(problems[i].Message, dir, "")
		}
	}
	return c, err
}
