package keys

import (
	"fmt"
	"slices"
	"time"

	"frontdesk/config"
)

// Revoke gives an api_key its end: now, or a day, or a moment, and never a later one than it has. It
// stays in the configuration with all it was allowed, so that it can be told later what it was.
func Revoke(main, name, end string) (*Change, error) {
	change, key, err := open(main, name)
	if err != nil {
		return nil, err
	}
	at, told := end, fmt.Sprintf("%s ends with %s.\n", name, end)
	if end == "now" {
		at = time.Now().UTC().Format(time.RFC3339)
		told = fmt.Sprintf("%s is refused, and its open sessions with it, from the moment the configuration is read again.\n", name)
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
	change.told = told
	change.byHand = fmt.Sprintf("give %s (%s) the line expires: %s", name, key.At(), at)
	change.change = func(of *config.Key) { of.Expires = expires }
	return change, nil
}

// Rotate gives an api_key a second hash. The old one keeps working for so many days.
func Rotate(main, name string, days int) (*Change, error) {
	change, key, err := open(main, name)
	if err == nil {
		err = change.beside.Err()
	}
	if err != nil {
		return nil, err
	}
	m, err := makeKey()
	if err != nil {
		return nil, err
	}
	zone := change.before.Server.TimeZone.Location
	end, err := config.ParseExpiry(time.Now().In(zone).AddDate(0, 0, days).Format(time.DateOnly), zone)
	if err != nil {
		return nil, err
	}
	lastsLonger := func(h config.KeyHash) bool { return h.Expires.IsZero() || h.Expires.After(end.Time) }
	change.told = m.handOver()
	if slices.ContainsFunc(key.Hashes, lastsLonger) {
		change.told += fmt.Sprintf("What was in use for %s works until the end of %s.\n", name, end)
	}
	if key.Expires.Passed(time.Now()) {
		change.told += fmt.Sprintf("But %s as a whole ended on %s (expires, at %s): nothing works until that is changed.\n", name, key.Expires, key.At())
	} else if !key.Expires.IsZero() {
		change.told += fmt.Sprintf("%s as a whole, the new api_key too, ends with %s (expires).\n", name, key.Expires)
	}
	change.byHand = fmt.Sprintf("put a hash that frontdesk key new prints under key_sha256 of %s (%s)", name, key.At())
	change.change = func(of *config.Key) {
		of.Hashes = slices.Clone(of.Hashes)
		for i := range of.Hashes {
			if h := &of.Hashes[i]; lastsLonger(*h) {
				h.Expires = end
			}
		}
		of.Hashes = append(of.Hashes, config.KeyHash{Hash: m.digest})
	}
	return change, nil
}
