package main

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

type keyCommands struct {
	New    keyNewCommand    `cmd:"" help:"Make an api_key: print it once, and keep its SHA-256 in the configuration, or print what belongs there."`
	Rotate keyRotateCommand `cmd:"" help:"Make a second api_key beside the one in use, which then ends after a while."`
	Revoke keyRevokeCommand `cmd:"" help:"End an api_key, at once or on a date."`
	List   keyListCommand   `cmd:"" help:"List the api_keys: when they end, how they are recognised, how much they may do."`
}

// keyFile is the configuration that a command changes.
type keyFile struct {
	Config string `required:"" placeholder:"FILE" help:"Configuration (YAML). The file it includes that has the key is the one that is changed."`
	DryRun bool   `help:"Show the change, and change nothing."`
}

type keyNewCommand struct {
	Name    string   `arg:"" help:"What the key is called in the configuration and in logs."`
	Config  string   `placeholder:"FILE" help:"Configuration (YAML) to add the key to: in a file of its own where the configuration includes a folder, such as keys.d/*.yaml. Without it nothing is written."`
	Allow   []string `placeholder:"ENTRY" sep:"none" help:"What the key may do, such as \"GET /order\"; once for each entry. Nothing is allowed without."`
	Expires string   `placeholder:"DATE" help:"The last day of the key, such as 2027-12-31. Without it the key does not end by itself."`
	DryRun  bool     `help:"Show the change, and change nothing."`
}

// Run prints a new key. It is kept nowhere.
func (k keyNewCommand) Run(p desk.Program) error {
	if !config.IsKeyName(k.Name) {
		return desk.Misused("key name %q: expected lower-case letters, digits, - and _, such as webshop", k.Name)
	}
	if k.Expires != "" {
		if err := judgeExpiry("--expires", k.Expires); err != nil {
			return err
		}
	}
	made, err := makeKey()
	if err != nil {
		return err
	}
	key := keyedit.NewKey{Name: k.Name, Hash: made.hash, Expires: k.Expires, Allow: k.Allow}
	if k.Config == "" {
		_, err = fmt.Fprintf(p.Stdout, "%s\nInto the configuration:\n\n%s", made.handOver(), key)
		return err
	}
	c, err := desk.LoadConfig(k.Config)
	if err != nil {
		return err
	}
	if old := findKey(c, k.Name); old != nil {
		return fmt.Errorf("there is a key %s already (%s); frontdesk key rotate gives it a second api_key, another name makes a key of its own", k.Name, old.At())
	}
	change := keyChange{
		config: k.Config, before: c, load: desk.LoadConfig, file: fileForNew(k.Config, c, k.Name), byHand: "add\n\n" + key.String(),
		edit: func(f *keyedit.File) error { return f.AddKey(key) },
		mean: func(keys map[string]config.Key, zone *time.Location) error {
			added := config.Key{Name: key.Name, Hashes: []config.KeyHash{{Hash: made.digest}}}
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
	}
	return change.apply(p, k.DryRun, made.handOver(), "")
}

// madeKey is an api_key that nobody has yet.
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

func findKey(c *config.Config, name string) *config.Key {
	for i := range c.APIKeys {
		if c.APIKeys[i].Name == name {
			return &c.APIKeys[i]
		}
	}
	return nil
}

// existing is the key of that name, or an error that helps.
func existing(c *config.Config, name string) (*config.Key, error) {
	if key := findKey(c, name); key != nil {
		return key, nil
	}
	return nil, fmt.Errorf("there is no key %s in the configuration%s; frontdesk key list shows which there are", terminal.Safe(name), strictyaml.Suggest(name, keyNames(c)))
}

func keyNames(c *config.Config) []string {
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

// judgeExpiry wants a date or a moment, be it past.
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
