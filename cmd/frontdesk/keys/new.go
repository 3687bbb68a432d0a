package keys

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// New is an api_key that is to be added to a configuration. The program does not store it.
type New struct {
	made madeKey
	key  config.Key
}

// NewKey makes an api_key. It does not expire if expires is empty.
func NewKey(name, expires string, allow []string) (*New, error) {
	if !config.IsKeyName(name) {
		return nil, desk.Misused("key name %q: expected lower-case letters, digits, - and _, such as webshop", name)
	}
	made, err := makeKey()
	if err != nil {
		return nil, err
	}
	key := config.Key{Name: name, Hashes: []config.KeyHash{{Hash: made.digest}}}
	if key.Expires, err = readExpiry("--expires", expires, time.UTC); err != nil {
		return nil, err
	}
	for _, entry := range allow {
		rule, err := config.ParseRule(entry)
		if err != nil {
			return nil, desk.Misused("--allow %q: %v", entry, err)
		}
		key.Allow = append(key.Allow, rule)
	}
	return &New{made, key}, nil
}

// String is the key, and what belongs into the configuration.
func (n *New) String() string {
	return fmt.Sprintf("%s%s\nInto the configuration:\n\n%s", n.made.handOver(), n.hint(), &config.KeyFile{Key: n.key})
}

// hint is what is told of a key that may do nothing.
func (n *New) hint() string {
	if len(n.key.Allow) > 0 {
		return ""
	}
	return "It may do nothing yet: list in allow what it may, for example [\"GET /order\", \"* /vehicle\"].\n"
}

// Into is the change that adds the key to a configuration.
func (n *New) Into(file string) (*Change, error) {
	c, err := desk.LoadConfig(file)
	if err != nil {
		return nil, err
	}
	if old := find(c, n.key.Name); old != nil {
		return nil, fmt.Errorf("there is a key %s already (%s); frontdesk key rotate gives it a second api_key, another name makes a key of its own", n.key.Name, old.At())
	}
	if n.key.Expires, err = readExpiry("--expires", n.key.Expires.String(), c.Server.TimeZone.Location); err != nil {
		return nil, err
	}
	return &Change{
		before: c, load: loadWith(file), file: fileForNew(file, c, n.key.Name), name: n.key.Name,
		byHand: n.byHand(c), first: n.made.handOver(), closing: n.hint(),
		change: func(key *config.Key) { *key = n.key },
	}, nil
}

// loadWith loads a configuration as serve does.
func loadWith(file string) func(map[string][]byte) error {
	return func(written map[string][]byte) error {
		_, err := desk.LoadWith(file, written)
		return err
	}
}

// byHand tells what to add. Where api_keys begin is told if the main file has some.
func (n *New) byHand(c *config.Config) string {
	where := ""
	if at := c.At("api_keys"); at.Line > 1 {
		where = fmt.Sprintf(" (%s has api_keys in line %d)", at.File, at.Line)
	}
	return fmt.Sprintf("add%s\n\n%s", where, &config.KeyFile{Key: n.key})
}

// madeKey is a new api_key, not handed over yet.
type madeKey struct {
	key    string
	digest config.Digest
}

func makeKey() (madeKey, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return madeKey{}, err
	}
	return madeKey{id.String(), sha256.Sum256([]byte(id.String()))}, nil
}

// handOver is what the operator sees of the key, once.
func (m madeKey) handOver() string {
	return fmt.Sprintf("api_key: %s\n\nHand it to whoever will use it; it is shown only now.\n", m.key)
}

func find(c *config.Config, name string) *config.Key {
	for i := range c.APIKeys {
		if c.APIKeys[i].Name == name {
			return &c.APIKeys[i]
		}
	}
	return nil
}

// existing is the key of that name, or an error that helps.
func existing(c *config.Config, name string) (*config.Key, error) {
	if key := find(c, name); key != nil {
		return key, nil
	}
	return nil, fmt.Errorf("there is no key %s in the configuration%s; frontdesk key list shows which there are", terminal.Safe(name), strictyaml.Suggest(name, namesOf(c)))
}

func namesOf(c *config.Config) []string {
	names := make([]string, len(c.APIKeys))
	for i := range c.APIKeys {
		names[i] = c.APIKeys[i].Name
	}
	return names
}

// fileForNew is where a new key goes: into a file of its own where the
// configuration includes every file of a folder, else into the configuration.
func fileForNew(main string, c *config.Config, name string) string {
	for _, pattern := range c.Include {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(filepath.Dir(main), pattern)
		}
		file := filepath.Join(filepath.Dir(pattern), name+filepath.Ext(pattern))
		info, err := os.Stat(filepath.Dir(pattern))
		matches, wrong := filepath.Match(pattern, file)
		if strings.Contains(filepath.Base(pattern), "*") && matches && wrong == nil && err == nil && info.IsDir() {
			return file
		}
	}
	return main
}

// readExpiry reads a date or a moment, which may be past; "" is never.
func readExpiry(flag, text string, zone *time.Location) (config.Expiry, error) {
	if text == "" {
		return config.Expiry{}, nil
	}
	e, err := config.ParseExpiry(text, zone)
	if err != nil {
		return e, desk.Misused("%s %s: expected a date such as 2027-01-01 or a time such as 2027-01-01T12:00:00Z", flag, text)
	}
	return e, nil
}
