package keys

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
)

// made is an api_key that is not handed over yet. The program does not store it.
type made struct {
	key    string
	digest config.Digest
}

func makeKey() (made, error) {
	id, err := uuid.NewRandom()
	return made{id.String(), sha256.Sum256([]byte(id.String()))}, err
}

// handOver is what the operator sees of the key, once.
func (m made) handOver() string {
	return fmt.Sprintf("api_key: %s\n\nHand it to whoever will use it; it is shown only now.\n", m.key)
}

// New is a new api_key. It does not expire if Expires is empty.
type New struct {
	Name, Expires string
	Allow         []string
}

// make makes the key. Its end is that of a day in a time zone.
func (n New) make(zone *time.Location) (key config.Key, told string, err error) {
	if !config.IsKeyName(n.Name) {
		return key, "", desk.Misused("key name %q: expected lower-case letters, digits, - and _, such as webshop", n.Name)
	}
	m, err := makeKey()
	if err != nil {
		return key, "", err
	}
	key, told = config.Key{Name: n.Name, Hashes: []config.KeyHash{{Hash: m.digest}}}, m.handOver()
	if n.Expires != "" {
		if key.Expires, err = readExpiry("--expires", n.Expires, zone); err != nil {
			return key, "", err
		}
	}
	for _, entry := range n.Allow {
		rule, err := config.ParseRule(entry)
		if err != nil {
			return key, "", desk.Misused("--allow %q: %v", entry, err)
		}
		key.Allow = append(key.Allow, rule)
	}
	if len(key.Allow) == 0 {
		told += "It may do nothing yet: list in allow what it may, for example [\"GET /order\", \"* /vehicle\"].\n"
	}
	return key, told, nil
}

// Print makes the key, and tells it and what belongs into a configuration.
func (n New) Print() (string, error) {
	key, told, err := n.make(time.UTC)
	return fmt.Sprintf("%s\nInto the configuration:\n\n%s", told, &config.KeyFile{Key: key}), err
}

// Into makes the key, and is the change that adds it to a configuration.
func (n New) Into(main string) (*Change, error) {
	c, err := desk.LoadConfig(main)
	if err != nil {
		return nil, err
	}
	key, told, err := n.make(c.Server.TimeZone.Location)
	if err != nil {
		return nil, err
	}
	if old := find(c, n.Name); old != nil {
		return nil, fmt.Errorf("there is a key %s already (%s); frontdesk key rotate gives it a second api_key, another name makes a key of its own", n.Name, old.At())
	}
	return &Change{
		main: main, before: c, isNew: true, file: fileForNew(main, c, n.Name), name: n.Name, told: told,
		byHand: "include such a folder, or have frontdesk key new print what to write, without --config",
		change: func(of *config.Key) { *of = key },
	}, nil
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
