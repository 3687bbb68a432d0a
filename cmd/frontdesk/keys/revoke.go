package keys

import (
	"fmt"
	"slices"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// Revoke gives an api_key its end: now, or a day, or a moment, and never a later one than it has. It stays in the configuration
// with all it was allowed, so that it can be told later what it was.
func Revoke(file, name, end string) (*Change, error) {
	at := end
	if at == "now" {
		at = time.Now().UTC().Format(time.RFC3339)
	}
	if _, err := readExpiry("--at", at, time.UTC); err != nil {
		return nil, err
	}
	c, beside, err := desk.DraftForKeys(file, nil)
	if err != nil {
		return nil, err
	}
	key, err := existing(c, name)
	if err == nil && slices.ContainsFunc(beside, func(p strictyaml.Problem) bool { return p.File == key.At().File }) || err != nil && len(beside) > 0 {
		return nil, beside // the problems may be why it is not found, or misread
	}
	if err != nil {
		return nil, err
	}
	if key.Expires.Passed(time.Now()) {
		return nil, fmt.Errorf("%s ended already, on %s (expires, at %s)", name, key.Expires, key.At())
	}
	expires, err := readExpiry("--at", at, c.Server.TimeZone.Location)
	if err != nil {
		return nil, err
	}
	if !key.Expires.IsZero() && expires.After(key.Expires.Time) {
		return nil, fmt.Errorf("%s ends before %s already: on %s (expires, at %s). To revoke gives no later end; write it there by hand", name, at, key.Expires, key.At())
	}
	closing := fmt.Sprintf("%s ends with %s.\n", name, at)
	if end == "now" {
		closing = fmt.Sprintf("%s is refused, and its open sessions with it, from the moment the configuration is read again.\n", name)
	}
	return &Change{
		before: c, beside: beside, load: loadBeside(file, beside), file: key.At().File, name: name, closing: closing,
		byHand: fmt.Sprintf("give %s (%s) this line, in place of an expires that it may have:\n\n    expires: %s\n", name, key.At(), at),
		change: func(key *config.Key) { key.Expires = expires },
	}, nil
}

// loadBeside loads a configuration that may have the same problems as before.
func loadBeside(file string, before strictyaml.Problems) func(map[string][]byte) error {
	return func(written map[string][]byte) error {
		_, now, err := desk.DraftForKeys(file, written)
		if err != nil {
			return err
		}
		known := func(p strictyaml.Problem) bool {
			return slices.ContainsFunc(before, func(b strictyaml.Problem) bool { return b.File == p.File && b.Path == p.Path })
		}
		return slices.DeleteFunc(now, known).Err()
	}
}
