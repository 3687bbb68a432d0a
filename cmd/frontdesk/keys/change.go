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
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// Change is a change of one api_key. The key's own file is written anew, once the configuration
// has been loaded with the new text in its place. Any other file is left to the operator.
type Change struct {
	main   string              // file of the configuration
	before *config.Config      // as it is
	isNew  bool                // then all of the configuration has to be right, and the endpoints too
	beside strictyaml.Problems // of other files, for which no gateway takes the change up yet

	file, name string // that has the key, or is to have it
	change     func(*config.Key)
	byHand     string // what to do about any other file
	told       string // what is told once the file is written, and only then, such as an api_key
}

// open reads a configuration to change a key of it, and finds the key. What is wrong elsewhere does
// not stop it.
func open(main, name string) (*Change, *config.Key, error) {
	c, beside, err := desk.DraftForKeys(main, nil)
	if err != nil {
		return nil, nil, err
	}
	key, meant := c.Key(name)
	switch {
	case key == nil && len(beside) > 0: // the problems may be why it is not found, or misread
		return nil, nil, beside
	case key == nil:
		return nil, nil, fmt.Errorf("there is no key %s in the configuration%s; frontdesk key list shows which there are", terminal.Safe(name), meant)
	}
	if slices.ContainsFunc(beside, func(p strictyaml.Problem) bool { return p.File == key.At().File }) {
		return nil, nil, beside
	}
	return &Change{main: main, before: c, beside: beside, file: key.At().File, name: name}, key, nil
}

// Apply makes the change.
func (k *Change) Apply(p desk.Program) error {
	if err := k.write(); err != nil {
		return err
	}
	fmt.Fprint(p.Stdout, k.told)
	if len(k.beside) > 0 {
		return errors.Join(fmt.Errorf("%s changed, but a frontdesk that serves goes on with the configuration before, until this is mended as well:\n%s", k.file, k.beside), k.tellOthers(p))
	}
	_, err := fmt.Fprintf(p.Stdout, "%s changed. A frontdesk that serves takes it up by itself, or on SIGHUP: /readyz has no config.error then.\n", k.file)
	return errors.Join(err, k.tellOthers(p))
}

// tellOthers tells the gateways that share a database what has ended, and the operator that each
// goes by its own files but for that.
func (k *Change) tellOthers(p desk.Program) error {
	var before config.Key
	if key, _ := k.before.Key(k.name); key != nil {
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
		return fmt.Errorf("nothing was changed: %s: %w. A command writes an api_key only into a file of its own, which include names as keys.d/*.yaml does: %s", k.file, err, k.byHand)
	}
	if err := k.judge(map[string][]byte{k.file: text}); err != nil {
		return err
	}
	return desk.WithSpare(desk.DatabaseFileOf(k.before), func() error { return atomicfile.Replace(file, src, text) })
}

// anew is the text of a file that has the key and nothing else. There is no file yet where src
// is nil.
func (k *Change) anew(src []byte) ([]byte, error) {
	file := &config.KeyFile{}
	if k.file == k.before.Files()[0] {
		return nil, errors.New("it has other settings")
	}
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

// judge loads the configuration as it is to be. A key is ended beside what was wrong before.
func (k *Change) judge(written map[string][]byte) error {
	if k.isNew {
		_, err := desk.LoadWith(k.main, written)
		return err
	}
	_, now, err := desk.DraftForKeys(k.main, written)
	if err != nil {
		return err
	}
	known := func(p strictyaml.Problem) bool {
		return slices.ContainsFunc(k.beside, func(b strictyaml.Problem) bool { return b.File == p.File && b.Path == p.Path })
	}
	return slices.DeleteFunc(now, known).Err()
}
