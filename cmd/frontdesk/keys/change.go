package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/keyedit"
	"frontdesk/config/strictyaml"
)

// Change is a change of api_keys in a file of the configuration. The text is changed in
// place; before it is written, the loader that serve uses checks that it has the intended
// meaning.
type Change struct {
	config string // the main file
	before *config.Config
	file   string // that is changed; it may be new
	byHand string // what to do where it cannot be done here, as a sentence after "In FILE, "
	edit   func(*keyedit.File) error
	mean   func(keys map[string]config.Key, zone *time.Location) error // changes what was meant before
	load   func(file string) (*config.Config, error)
	beside strictyaml.Problems // of other files, for which no gateway takes the change up yet

	first   string // what is told when the file is written, and only then, such as an api_key
	closing string // what is told of the change itself
}

// errByHand is wrapped if the file cannot be changed automatically as intended.
var errByHand = errors.New("this is left to you")

// Apply makes the change, or shows it.
func (k *Change) Apply(p desk.Program, dryRun bool) error {
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
	text, err := k.prove(file, src)
	switch {
	case errors.Is(err, errByHand) && !dryRun: // what is told first is needed for that
		fmt.Fprint(p.Stdout, k.first)
		return fmt.Errorf("%w\nNothing was changed. In %s, %s", err, k.file, k.byHand)
	case err != nil:
		return err
	}
	if dryRun {
		fmt.Fprint(p.Stdout, difference(k.file, src, text))
		note := "Nothing was changed (--dry-run)."
		if k.first != "" {
			note += " The hash is that of an api_key that nobody gets; another is made when it is done."
		}
		_, err = fmt.Fprintln(p.Stderr, note)
		return err
	}
	if err := desk.WithSpare(desk.DatabaseFileOf(k.before), func() error { return replaceFile(file, src, text) }); err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if len(k.beside) > 0 {
		return fmt.Errorf("%s changed, but a frontdesk that serves goes on with the configuration before, until this is mended as well:\n%s", k.file, k.beside)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s%s%s changed. A frontdesk that serves takes it up by itself, or on SIGHUP: /readyz has no config.error then.\n", k.first, k.closing, k.file)
	return err
}

// prove returns the changed text after checking that it has the intended meaning.
func (k *Change) prove(file string, src []byte) ([]byte, error) {
	meant := keysByName(k.before)
	if err := k.mean(meant, k.before.Server.TimeZone.Location); err != nil {
		return nil, err
	}
	f, err := keyedit.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %w", k.file, err, errByHand)
	}
	if err := k.edit(f); err != nil {
		return nil, fmt.Errorf("%s: %w; %w", k.file, err, errByHand)
	}
	after, err := k.loadWith(file, f.Text())
	if err != nil {
		return nil, err
	}
	rest := *after
	rest.APIKeys = k.before.APIKeys
	if !sameMeaning(reflect.ValueOf(*k.before), reflect.ValueOf(rest)) || !sameMeaning(reflect.ValueOf(meant), reflect.ValueOf(keysByName(after))) {
		return nil, fmt.Errorf("%s: changed in place it would not mean what was meant; %w", k.file, errByHand)
	}
	return f.Text(), nil
}

func keysByName(c *config.Config) map[string]config.Key {
	keys := make(map[string]config.Key, len(c.APIKeys))
	for _, key := range c.APIKeys {
		keys[key.Name] = key
	}
	return keys
}

// loadWith loads the configuration as if the file had that text: from a copy of its
// folders that contains the text, and links to all other files.
func (k *Change) loadWith(file string, text []byte) (*config.Config, error) {
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
		}
	}
	return c, err
}

// sameMeaning compares values read from files: of structs with YAML fields it compares
// only those, so that positions do not matter.
func sameMeaning(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Struct:
		switch x := a.Interface().(type) {
		case config.Expiry:
			return x.Equal(b.Interface().(config.Expiry).Time)
		case config.Zone:
			return x.String() == b.Interface().(config.Zone).String()
		default:
			return sameFields(a, b)
		}
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameMeaning(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, key := range a.MapKeys() {
			if !sameMeaning(a.MapIndex(key), b.MapIndex(key)) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
}

func sameFields(a, b reflect.Value) bool {
	tagged := false
	for i := range a.NumField() {
		if _, ok := a.Type().Field(i).Tag.Lookup("yaml"); !ok {
			continue
		}
		tagged = true
		if !sameMeaning(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return tagged || reflect.DeepEqual(a.Interface(), b.Interface())
}

// replaceFile puts text in the place of a file that holds old: whole or not at
// all, with the same mode and owner. A file that is new is for its owner and
// group to read.
func replaceFile(path string, old, text []byte) error {
	dir := filepath.Dir(path)
	temporary, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // hidden: not among what a pattern includes
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // fails if all went well, since the file is renamed then
	defer temporary.Close()
	mode := fs.FileMode(0o640)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if err := giveTo(temporary, info); err != nil {
			return fmt.Errorf("%s would get another owner: %w", path, err)
		}
	} else if info, err := os.Stat(dir); err == nil {
		_ = giveTo(temporary, info) // whoever may read the folder's other files
	}
	if _, err := temporary.Write(text); err != nil {
		return err
	}
	if err := errors.Join(temporary.Chmod(mode), temporary.Sync()); err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, old) {
		return fmt.Errorf("%s was changed by somebody else meanwhile", path)
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
