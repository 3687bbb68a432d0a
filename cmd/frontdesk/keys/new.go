package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/keyedit"
	"frontdesk/config/strictyaml"
)

// New is an api_key that is to be added to a configuration. The program does not store it.
type New struct {
	made madeKey
	key  keyedit.NewKey
}

// NewKey makes an api_key. It does not expire if expires is empty.
func NewKey(name, expires string, allow []string) (*New, error) {
	if !config.IsKeyName(name) {
		return nil, desk.Misused("key name %q: expected lower-case letters, digits, - and _, such as webshop", name)
	}
	if expires != "" {
		if err := judgeExpiry("--expires", expires); err != nil {
			return nil, err
		}
	}
	made, err := makeKey()
	if err != nil {
		return nil, err
	}
	return &New{made, keyedit.NewKey{Name: name, Hash: made.hash, Expires: expires, Allow: allow}}, nil
}

// String is the key, and what belongs into the configuration.
func (n *New) String() string {
	return fmt.Sprintf("%s\nInto the configuration:\n\n%s", n.made.handOver(), n.key)
}

// Into is the change that adds the key to a configuration.
func (n *New) Into(file string) (*Change, error) {
	c, err := desk.LoadConfig(file)
	if err != nil {
		return nil, err
	}
	key := n.key
	if old := find(c, key.Name); old != nil {
		return nil, fmt.Errorf("there is a key %s already (%s); frontdesk key rotate gives it a second api_key, another name makes a key of its own", key.Name, old.At())
	}
	return &Change{
		config: file, before: c, load: desk.LoadConfig, file: fileForNew(file, c, key.Name), byHand: "add\n\n" + key.String(), first: n.made.handOver(),
		edit: func(f *keyedit.File) error { return f.AddKey(key) },
		mean: func(keys map[string]config.Key, zone *time.Location) error {
			added := config.Key{Name: key.Name, Hashes: []config.KeyHash{{Hash: n.made.digest}}}
			for _, entry := range key.Allow {
				var rule config.Rule
				if err := rule.UnmarshalText([]byte(entry)); err != nil {
					return desk.Misused("--allow %q: %v", entry, err)
				}
				added.Allow = append(added.Allow, rule)
			}
			added.Expires, err = expiryOf(key.Expires, zone)
			keys[key.Name] = added
			return err
		},
	}, nil
}

// madeKey is a new api_key, not handed over yet.
type madeKey struct {
	key, hash string
	digest    config.Digest
}

func makeKey() (madeKey, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return madeKey{}, err
	}
	sum := sha256.Sum256([]byte(id.String()))
	return madeKey{id.String(), hex.EncodeToString(sum[:]), sum}, nil
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

// judgeExpiry requires a date or a moment, which may be past.
func judgeExpiry(flag, text string) error {
	var e config.Expiry
	if err := e.UnmarshalText([]byte(text)); err != nil {
		return desk.Misused("%s %s: expected a date such as 2027-01-01 or a time such as 2027-01-01T12:00:00Z", flag, text)
	}
	return nil
}

// expiryOf is the moment that a text of the configuration stands for; "" is never.
func expiryOf(text string, zone *time.Location) (config.Expiry, error) {
	if text == "" {
		return config.Expiry{}, nil
	}
	return config.ParseExpiry(text, zone)
}
