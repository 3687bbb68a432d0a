package desk

import (
	"cmp"
	"slices"
	"time"

	"frontdesk/config"
)

// StatusKeys are the api_keys that somebody has to do something about.
type StatusKeys struct {
	Count    int         `json:"count"`
	Expiring []StatusKey `json:"expiring"` // hashes that end within noticeAhead days, even if their key has others
	Expired  []StatusKey `json:"expired"`  // keys
	Rotated  []StatusKey `json:"rotated"`  // the other hashes of keys that have several
}

// StatusKey is an api_key or one of its hashes, with its end.
type StatusKey struct {
	Name     string     `json:"name"`
	SHA256   string     `json:"sha256,omitempty"` // the first digits, if it is a hash
	Until    time.Time  `json:"until,omitzero"`
	LastUsed *time.Time `json:"last_used,omitempty"` // nil for a hash that was never used
}

// keyStatus finds the api_keys that somebody has to do something about.
func keyStatus(keys []config.Key, now time.Time, lastUse func(config.Digest) time.Time) StatusKeys {
	s := StatusKeys{Count: len(keys), Expiring: []StatusKey{}, Expired: []StatusKey{}, Rotated: []StatusKey{}}
	for _, key := range keys {
		if HasEnded(key, now) {
			s.Expired = append(s.Expired, StatusKey{Name: key.Name, Until: endOf(key)})
		}
		for _, hash := range key.Hashes {
			end := key.EndOf(hash)
			of := StatusKey{Name: key.Name, SHA256: hash.Hash.Short(), Until: end.Time, LastUsed: moment(lastUse(hash.Hash))}
			switch {
			case end.Passed(now):
			case !end.IsZero() && EndsSoon(end.Time, now):
				s.Expiring = append(s.Expiring, of)
			case len(key.Hashes) > 1:
				s.Rotated = append(s.Rotated, of)
			}
		}
	}
	for _, list := range [][]StatusKey{s.Expiring, s.Expired, s.Rotated} {
		slices.SortFunc(list, func(a, b StatusKey) int {
			return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Name, b.Name), cmp.Compare(a.SHA256, b.SHA256))
		})
	}
	return s
}

// HasEnded reports whether an api_key can no longer be used, so that none of its
// sessions is alive.
func HasEnded(k config.Key, now time.Time) bool {
	end := endOf(k)
	return !end.IsZero() && !now.Before(end)
}

// endOf returns when an api_key can no longer be used: at its own end or that of the last of its
// hashes, whichever is first; zero for never.
func endOf(k config.Key) time.Time {
	var last time.Time
	for _, hash := range k.Hashes {
		if hash.Expires.IsZero() {
			return k.Expires.Time
		}
		if hash.Expires.After(last) {
			last = hash.Expires.Time
		}
	}
	if last.IsZero() || !k.Expires.IsZero() && k.Expires.Before(last) {
		return k.Expires.Time
	}
	return last
}
