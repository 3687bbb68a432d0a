package keys

import (
	"fmt"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/keyedit"
)

// Rotate gives an api_key a second hash. The old one keeps working for so many days.
func Rotate(file, name string, days int) (*Change, error) {
	c, err := desk.LoadForKeys(file)
	if err != nil {
		return nil, err
	}
	key, err := existing(c, name)
	if err != nil {
		return nil, err
	}
	made, err := makeKey()
	if err != nil {
		return nil, err
	}
	zone := c.Server.TimeZone.Location
	last := time.Now().In(zone).AddDate(0, 0, days).Format(time.DateOnly)
	end, err := expiryOf(last, zone)
	if err != nil {
		return nil, err
	}
	ending := endingLater(*key, end)
	return &Change{
		config: file, before: c, load: desk.LoadForKeys, file: key.At().File, byHand: rotateByHand(*key, ending, made, last),
		first: made.handOver(), closing: closingOf(*key, ending, end, last),
		edit: func(f *keyedit.File) error {
			for _, hash := range ending {
				if err := f.EndHash(name, fmt.Sprintf("%x", hash), last); err != nil {
					return err
				}
			}
			return f.AddHash(name, made.hash)
		},
		mean: func(keys map[string]config.Key, _ *time.Location) error {
			meant := keys[name]
			meant.Hashes = append([]config.KeyHash(nil), meant.Hashes...)
			for i := range meant.Hashes {
				if h := &meant.Hashes[i]; lastsLonger(*h, end) {
					h.Expires = end
				}
			}
			meant.Hashes = append(meant.Hashes, config.KeyHash{Hash: made.digest})
			keys[name] = meant
			return nil
		},
	}, nil
}

// lastsLonger tells whether a hash lasts longer than that.
func lastsLonger(h config.KeyHash, end config.Expiry) bool {
	return h.Expires.IsZero() || h.Expires.After(end.Time)
}

// closingOf says what happens to the api_keys that were there.
func closingOf(key config.Key, ending []config.Digest, end config.Expiry, last string) string {
	var out strings.Builder
	if len(ending) > 0 {
		fmt.Fprintf(&out, "What was in use for %s works until the end of %s.\n", key.Name, last)
	}
	if key.Expires.Passed(time.Now()) {
		fmt.Fprintf(&out, "But %s as a whole ended on %s (expires, at %s): nothing works until that is changed.\n", key.Name, lastDay(key.Expires, end.Location()), key.At())
	} else if !key.Expires.IsZero() {
		fmt.Fprintf(&out, "%s as a whole, the new api_key too, ends with %s (expires).\n", key.Name, lastDay(key.Expires, end.Location()))
	}
	return out.String()
}

// endingLater are the hashes of a key that last longer than that.
func endingLater(key config.Key, end config.Expiry) []config.Digest {
	var hashes []config.Digest
	for _, h := range key.Hashes {
		if lastsLonger(h, end) {
			hashes = append(hashes, h.Hash)
		}
	}
	return hashes
}

func rotateByHand(key config.Key, ending []config.Digest, made madeKey, last string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "under key_sha256 of %s (%s), replace each of the left by the right and add the last:\n\n", key.Name, key.At())
	for _, hash := range ending {
		fmt.Fprintf(&out, "  %s…  →  {hash: \"%x\", expires: %s}\n", hash.Short(), hash, last)
	}
	fmt.Fprintf(&out, "  %q\n", made.hash)
	return out.String()
}
