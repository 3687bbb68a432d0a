package main

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/keyedit"
	"frontdesk/config/strictyaml"
)

type keyRotateCommand struct {
	Name string `arg:"" help:"The key, by its name in the configuration."`
	keyFile
	Overlap string `default:"14d" placeholder:"TIME" help:"How long the api_key that is in use goes on working, in whole days (default: 14d); 0d ends it today, at the end of the day."`
}

// longestOverlap bounds the days that two api_keys work side by side.
const longestOverlap = 366

// Run makes the second api_key and gives the first its last day.
func (k keyRotateCommand) Run(p desk.Program) error {
	days, ok := terminal.WholeDays(k.Overlap)
	if !ok || days > longestOverlap {
		return desk.Misused("--overlap %s: expected whole days from 0d to %dd, such as 14d", k.Overlap, longestOverlap)
	}
	c, err := desk.LoadForKeys(k.Config)
	if err != nil {
		return err
	}
	key, err := existing(c, k.Name)
	if err != nil {
		return err
	}
	made, err := makeKey()
	if err != nil {
		return err
	}
	zone := c.Server.TimeZone.Location
	last := time.Now().In(zone).AddDate(0, 0, days).Format(time.DateOnly)
	end, err := expiryOf(last, zone)
	if err != nil {
		return err
	}
	ending := endingLater(*key, end)
	change := keyChange{
		config: k.Config, before: c, load: desk.LoadForKeys, file: key.At().File, byHand: rotateByHand(*key, ending, made, last),
		edit: func(f *keyedit.File) error {
			for _, hash := range ending {
				if err := f.EndHash(k.Name, hash, last); err != nil {
					return err
				}
			}
			return f.AddHash(k.Name, made.hash)
		},
		mean: func(keys map[string]config.Key, _ *time.Location) error {
			meant := keys[k.Name]
			meant.Hashes = append([]config.KeyHash(nil), meant.Hashes...)
			for i := range meant.Hashes {
				if h := &meant.Hashes[i]; h.Expires.IsZero() || h.Expires.After(end.Time) {
					h.Expires = end
				}
			}
			meant.Hashes = append(meant.Hashes, config.KeyHash{Hash: made.digest})
			keys[k.Name] = meant
			return nil
		},
	}
	return change.apply(p, k.DryRun, made.handOver(), k.closing(*key, ending, end, last))
}

// closing says what happens to the api_keys that were there.
func (k keyRotateCommand) closing(key config.Key, ending []string, end config.Expiry, last string) string {
	var out strings.Builder
	if len(ending) > 0 {
		fmt.Fprintf(&out, "What was in use for %s works until the end of %s.\n", k.Name, last)
	}
	if key.Expires.Passed(time.Now()) {
		fmt.Fprintf(&out, "But %s as a whole ended on %s (expires, at %s): nothing works until that is changed.\n", k.Name, lastDay(key.Expires, end.Location()), key.At())
	} else if !key.Expires.IsZero() {
		fmt.Fprintf(&out, "%s as a whole, the new api_key too, ends with %s (expires).\n", k.Name, lastDay(key.Expires, end.Location()))
	}
	return out.String()
}

// endingLater are the hashes of a key that last longer than that.
func endingLater(key config.Key, end config.Expiry) []string {
	var hashes []string
	for _, h := range key.Hashes {
		if h.Expires.IsZero() || h.Expires.After(end.Time) {
			hashes = append(hashes, hex.EncodeToString(h.Hash[:]))
		}
	}
	return hashes
}

func rotateByHand(key config.Key, ending []string, made madeKey, last string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "under key_sha256 of %s (%s), replace each of the left by the right and add the last:\n\n", key.Name, key.At())
	for _, hash := range ending {
		fmt.Fprintf(&out, "  %s…  →  {hash: %q, expires: %s}\n", hash[:8], hash, last)
	}
	fmt.Fprintf(&out, "  %q\n", made.hash)
	return out.String()
}

type keyRevokeCommand struct {
	Name string `arg:"" help:"The key, by its name in the configuration."`
	keyFile
	At string `default:"now" placeholder:"WHEN" help:"now (the default), or its last day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z."`
}

// Run gives the key its end. It stays in the configuration with all it was
// allowed, so that it can be told later what it was.
func (k keyRevokeCommand) Run(p desk.Program) error {
	at := k.At
	if at == "now" {
		at = time.Now().UTC().Format(time.RFC3339)
	} else if err := judgeExpiry("--at", at); err != nil {
		return err
	}
	c, beside, err := desk.DraftForKeys(k.Config)
	if err != nil {
		return err
	}
	key, err := existing(c, k.Name)
	if err == nil && slices.ContainsFunc(beside, func(p strictyaml.Problem) bool { return p.File == key.At().File }) || err != nil && len(beside) > 0 {
		return beside // which may be why it is not found, or is not what it seems
	}
	if err != nil {
		return err
	}
	if key.Expires.Passed(time.Now()) {
		return fmt.Errorf("%s ended already, on %s (expires, at %s)", k.Name, lastDay(key.Expires, c.Server.TimeZone.Location), key.At())
	}
	change := keyChange{
		config: k.Config, before: c, beside: beside, load: k.loadBeside(beside), file: key.At().File,
		byHand: fmt.Sprintf("give %s (%s)\n\n    expires: %s\n", k.Name, key.At(), at),
		edit:   func(f *keyedit.File) error { return f.EndKey(k.Name, at) },
		mean: func(keys map[string]config.Key, zone *time.Location) error {
			meant := keys[k.Name]
			meant.Expires, err = expiryOf(at, zone)
			keys[k.Name] = meant
			return err
		},
	}
	closing := fmt.Sprintf("%s ends with %s.\n", k.Name, at)
	if k.At == "now" {
		closing = fmt.Sprintf("%s is refused, and its open sessions with it, from the moment the configuration is read again.\n", k.Name)
	}
	return change.apply(p, k.DryRun, "", closing)
}

// loadBeside loads a copy of the configuration, in which the problems that there were may be
// as well.
func (k keyRevokeCommand) loadBeside(before strictyaml.Problems) func(string) (*config.Config, error) {
	return func(file string) (*config.Config, error) {
		c, now, err := desk.DraftForKeys(file)
		if err != nil {
			return nil, err
		}
		known := func(p strictyaml.Problem) bool {
			return slices.ContainsFunc(before, func(b strictyaml.Problem) bool {
				original, err := filepath.Abs(b.File)
				return err == nil && b.Path == p.Path && strings.HasSuffix(p.File, original)
			})
		}
		return c, slices.DeleteFunc(now, known).Err()
	}
}
