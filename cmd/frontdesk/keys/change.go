package keys

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// Change is a change of one api_key. It rewrites the key's own file, after the configuration was loaded
// with the new text in its place. It leaves any other file to the operator.
type Change struct {
	main      string              // file of the configuration
	before    *config.Config      // the configuration before the change
	isNew     bool                // adds a key: then the whole configuration has to be right, endpoints included
	elsewhere strictyaml.Problems // problems of other files, which keep gateways from taking up the change

	file, name string // of the key
	change     func(*config.Key)
	byHand     string // what the operator has to do if the key has no file of its own
	notice     string // printed only after the file is written, such as an api_key
}

// open reads a configuration, and begins a change of one of its keys. Problems of other files do not stop
// it.
func open(main, name string) (*Change, *config.Key, error) {
	c, elsewhere, err := desk.DraftForKeys(main, nil)
	if err != nil {
		return nil, nil, err
	}
	key, meant := c.Key(name)
	switch {
	case key == nil && len(elsewhere) > 0: // the problems may be why it is not found, or misread
		return nil, nil, elsewhere
	case key == nil:
		return nil, nil, fmt.Errorf("there is no key %s in the configuration%s; frontdesk key list shows which there are", terminal.Safe(name), meant)
	}
	if slices.ContainsFunc(elsewhere, func(p strictyaml.Problem) bool { return p.File == key.At().File }) {
		return nil, nil, elsewhere
	}
	return &Change{main: main, before: c, elsewhere: elsewhere, file: key.At().File, name: name}, key, nil
}

// Apply makes the change.
func (k *Change) Apply(p desk.Program) error {
	if err := k.write(); err != nil {
		return err
	}
	fmt.Fprint(p.Stdout, k.notice)
	if len(k.elsewhere) > 0 {
		return errors.Join(fmt.Errorf("%s changed, but a frontdesk that serves goes on with the configuration before, until this is mended as well:\n%s", k.file, k.elsewhere), k.publish(p))
	}
	_, err := fmt.Fprintf(p.Stdout, "%s changed. A frontdesk that serves takes it up by itself, or on SIGHUP: /readyz has no config.error then.\n", k.file)
	return errors.Join(err, k.publish(p))
}

// publish reports to the gateways that share a database what has ended, and reminds the operator that
// for everything else each uses its own files.
func (k *Change) publish(p desk.Program) error {
	var before config.Key
	if key, _ := k.before.Key(k.name); key != nil {
		before = *key
	}
	after := before
	k.change(&after)
	gateways, known, err := desk.PublishKeyChange(p, k.before, before, after)
	switch {
	case err != nil && !known:
		_, err = fmt.Fprintf(p.Stderr, "Whether other gateways have to be told is not known: %s\n", k.before.Hide(err.Error()))
	case err != nil:
		return fmt.Errorf("the other gateways of the service could not be told: %s\nThe frontdesk that serves from these files tells them once it can, unless it is restarted before. Bring the file to all of them: %s",
			k.before.Hide(err.Error()), k.file)
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
	return desk.WithReserve(desk.DatabaseFileOf(k.before), func() error { return atomicfile.Replace(file, src, text) })
}

// anew returns the new text of the key's own file, whose text is src; nil if there is no file yet. It fails if
// the file has anything but the key.
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

// judge loads the configuration with the new file. It ignores problems that were there before, unless a key
// is added.
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
		return slices.ContainsFunc(k.elsewhere, func(b strictyaml.Problem) bool { return b.File == p.File && b.Path == p.Path })
	}
	return slices.DeleteFunc(now, known).Err()
}

// makeKey makes an api_key, which the program does not store, and the text that shows it to the operator
// once.
func makeKey() (hash config.KeyHash, notice string, err error) {
	id, err := uuid.NewRandom()
	return config.KeyHash{Hash: sha256.Sum256([]byte(id.String()))},
		fmt.Sprintf("api_key: %s\n\nHand it to whoever will use it; it is shown only now.\n", id), err
}

// New makes an api_key: its entry in a configuration, and the text that shows it to the operator once. It
// does not expire if expires is "".
func New(name, expires string, allow []string, zone *time.Location) (key config.Key, notice string, err error) {
	if !config.IsKeyName(name) {
		return key, "", desk.Misused("key name %q: expected lower-case letters, digits, - and _, such as webshop", name)
	}
	hash, notice, err := makeKey()
	if err != nil {
		return key, "", err
	}
	key = config.Key{Name: name, Hashes: []config.KeyHash{hash}}
	if expires != "" {
		if key.Expires, err = readExpiry("--expires", expires, zone); err != nil {
			return key, "", err
		}
	}
	for _, entry := range allow {
		rule, err := config.ParseRule(entry)
		if err != nil {
			return key, "", desk.Misused("--allow %q: %v", entry, err)
		}
		key.Allow = append(key.Allow, rule)
	}
	if len(allow) == 0 {
		notice += "It may do nothing yet: list in allow what it may, for example [\"GET /order\", \"* /vehicle\"].\n"
	}
	return key, notice, nil
}

// Add makes an api_key, and returns the change that adds it to a configuration.
func Add(main, name, expires string, allow []string) (*Change, error) {
	c, err := desk.LoadConfig(main)
	if err != nil {
		return nil, err
	}
	key, notice, err := New(name, expires, allow, c.Server.TimeZone.Location)
	if err != nil {
		return nil, err
	}
	if old, _ := c.Key(name); old != nil {
		return nil, fmt.Errorf("there is a key %s already (%s); frontdesk key rotate gives it a second api_key, another name makes a key of its own", name, old.At())
	}
	return &Change{
		main: main, before: c, isNew: true, file: fileForNew(main, c, name), name: name, notice: notice,
		byHand: "include such a folder, or have frontdesk key new print what to write, without --config",
		change: func(of *config.Key) { *of = key },
	}, nil
}

// fileForNew returns the file for a new key: one of its own if the
// configuration includes every file of a folder, else the configuration's.
func fileForNew(main string, c *config.Config, name string) string {
	for _, pattern := range c.Include {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(filepath.Dir(main), pattern)
		}
		file := filepath.Join(filepath.Dir(pattern), name+filepath.Ext(pattern))
		info, err := os.Stat(filepath.Dir(pattern))
		matches, wrong := filepath.Match(pattern, file)
		if strings.Contains(filepath.Base(pattern), "*") && matches && errors.Join(wrong, err) == nil && info.IsDir() {
			return file
		}
	}
	return main
}

// readExpiry reads a date or a moment, which may be past.
func readExpiry(flag, text string, zone *time.Location) (config.Expiry, error) {
	e, err := config.ParseExpiry(text, zone)
	if err != nil {
		return e, desk.Misused("%s %s: expected a date such as 2027-01-01 or a time such as 2027-01-01T12:00:00Z", flag, text)
	}
	return e, nil
}

// Revoke gives an api_key its end: now, or a day, or a moment, but never a later one than it has. The key
// stays in the configuration with its allowlist, so that logs can be explained later.
func Revoke(main, name, end string) (*Change, error) {
	change, key, err := open(main, name)
	if err != nil {
		return nil, err
	}
	at, notice := end, fmt.Sprintf("%s ends with %s.\n", name, end)
	if end == "now" {
		at = time.Now().UTC().Format(time.RFC3339)
		notice = fmt.Sprintf("%s is refused, and its open sessions with it, from the moment the configuration is read again.\n", name)
	}
	expires, err := readExpiry("--at", at, change.before.Server.TimeZone.Location)
	switch {
	case err != nil:
		return nil, err
	case key.Expires.Passed(time.Now()):
		return nil, fmt.Errorf("%s ended already, on %s (expires, at %s)", name, key.Expires, key.At())
	case !key.Expires.IsZero() && expires.After(key.Expires.Time):
		return nil, fmt.Errorf("%s ends before %s already: on %s (expires, at %s). To revoke gives no later end; write it there by hand", name, at, key.Expires, key.At())
	}
	change.notice = notice
	change.byHand = fmt.Sprintf("give %s (%s) the line expires: %s", name, key.At(), at)
	change.change = func(of *config.Key) { of.Expires = expires }
	return change, nil
}

// Rotate gives an api_key a second hash. The old one keeps working for so many days.
func Rotate(main, name string, days int) (*Change, error) {
	change, key, err := open(main, name)
	if err == nil {
		err = change.elsewhere.Err()
	}
	if err != nil {
		return nil, err
	}
	hash, notice, err := makeKey()
	if err != nil {
		return nil, err
	}
	zone := change.before.Server.TimeZone.Location
	end, err := config.ParseExpiry(time.Now().In(zone).AddDate(0, 0, days).Format(time.DateOnly), zone)
	if err != nil {
		return nil, err
	}
	change.notice = notice + fmt.Sprintf("What was in use for %s works until the end of %s at most.\n", name, end)
	if key.Expires.Passed(time.Now()) {
		change.notice += fmt.Sprintf("But %s as a whole ended on %s (expires, at %s): nothing works until that is changed.\n", name, key.Expires, key.At())
	} else if !key.Expires.IsZero() {
		change.notice += fmt.Sprintf("%s as a whole, the new api_key too, ends with %s (expires).\n", name, key.Expires)
	}
	change.byHand = fmt.Sprintf("put a hash that frontdesk key new prints under key_sha256 of %s (%s)", name, key.At())
	change.change = func(of *config.Key) {
		of.Hashes = slices.Clone(of.Hashes)
		for i := range of.Hashes {
			if h := &of.Hashes[i]; h.Expires.IsZero() || h.Expires.After(end.Time) {
				h.Expires = end
			}
		}
		of.Hashes = append(of.Hashes, hash)
	}
	return change, nil
}
