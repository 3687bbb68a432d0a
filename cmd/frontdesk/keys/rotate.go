package keys

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
)

// Rotate gives an api_key a second hash. The old one keeps working for so many days.
func Rotate(file, name string, days int) (*Change, error) {
	c, beside, err := desk.DraftForKeys(file, nil)
	if err = errors.Join(err, beside.Err()); err != nil {
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
	end, err := config.ParseExpiry(time.Now().In(zone).AddDate(0, 0, days).Format(time.DateOnly), zone)
	if err != nil {
		return nil, err
	}
	return &Change{
		before: c, load: loadBeside(file, nil), file: key.At().File, name: name, byHand: rotateByHand(*key, made, end),
		first: made.handOver(), closing: closingOf(*key, end),
		change: func(key *config.Key) {
			key.Hashes = slices.Clone(key.Hashes)
			for i := range key.Hashes {
				if h := &key.Hashes[i]; lastsLonger(*h, end) {
					h.Expires = end
				}
			}
			key.Hashes = append(key.Hashes, config.KeyHash{Hash: made.digest})
		},
	}, nil
}

// lastsLonger tells whether a hash lasts longer than that.
func lastsLonger(h config.KeyHash, end config.Expiry) bool {
	return h.Expires.IsZero() || h.Expires.After(end.Time)
}

// closingOf says what happens to the api_keys that were there.
func closingOf(key config.Key, end config.Expiry) string {
	var out strings.Builder
	if slices.ContainsFunc(key.Hashes, func(h config.KeyHash) bool { return lastsLonger(h, end) }) {
		fmt.Fprintf(&out, "What was in use for %s works until the end of %s.\n", key.Name, end)
	}
	if key.Expires.Passed(time.Now()) {
		fmt.Fprintf(&out, "But %s as a whole ended on %s (expires, at %s): nothing works until that is changed.\n", key.Name, key.Expires, key.At())
	} else if !key.Expires.IsZero() {
		fmt.Fprintf(&out, "%s as a whole, the new api_key too, ends with %s (expires).\n", key.Name, key.Expires)
	}
	return out.String()
}

// rotateByHand tells which hashes to write, each with the line that it belongs to.
func rotateByHand(key config.Key, made madeKey, end config.Expiry) string {
	var out strings.Builder
	fmt.Fprintf(&out, "under key_sha256 of %s (%s), write\n\n", key.Name, key.At())
	for i, h := range key.Hashes {
		if lastsLonger(h, end) {
			fmt.Fprintf(&out, "  {hash: \"%x\", expires: %s}   in place of %s… in line %d\n", h.Hash, end, h.Hash.Short(), key.HashAt(i).Line)
		}
	}
	fmt.Fprintf(&out, "  \"%x\"   behind it, as the last of the list\n", made.digest)
	return out.String()
}
