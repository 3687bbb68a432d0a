package config

import (
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"frontdesk/config/strictyaml"
)

// Key is one api_key: what it is called, how it is recognised and what it may do.
type Key struct {
	// Name is unique.
	Name string `yaml:"name" schema:"required [key-name]: a name for the key; format=key-name [key-name]"`
	// Hashes recognise the key.
	Hashes []KeyHash `yaml:"key_sha256" schema:"required [key-hash-missing]: at least one hash: a SHA-256 as 64 hexadecimal digits"`

	Expires       Expiry   `yaml:"expires"`
	Allow         []Rule   `yaml:"allow"` // empty allows nothing
	WebhookSecret []Secret `yaml:"webhook_secret" schema:"format=secret [webhook-secret]; unique [webhook-secret]: the same secret"`

	Stale bool `yaml:"stale"` // requests may ask for records of the copy while the service is away

	Rate       *Rate `yaml:"rate"`                                                    // of each client (customer) with the key; nil for no limit
	Concurrent int   `yaml:"concurrent" schema:"min=0 [limit]: 0 (no limit) or more"` // requests of each client at once; 0 for no limit
	PerDay     int64 `yaml:"per_day" schema:"min=0 [limit]: 0 (no limit) or more"`    // requests of each client from midnight to midnight in server.time_zone; 0 for no limit

	Addresses    []Network `yaml:"addresses" schema:"unique [repeated]"`                                 // from which it may be used; empty: from everywhere
	Certificates []Digest  `yaml:"client_certificates" schema:"unique [repeated]: the same certificate"` // SHA-256 of those whose holders may use the key; empty: it needs none

	at      Place
	allowAt []int32 // lines, in the same file
	nameAt  spot
	hashAt  []spot
	named   bool   // the name has the form of one
	written string // the name, where a variable of the environment gives it
}

// Fields are those of a resource's records that an entry of an allowlist takes away: it has one of
// the two.
type Fields struct {
	Without []string `yaml:"without" schema:"pattern=^[A-Za-z][A-Za-z0-9_]*$ [allow-fields]: the name of a field; unique [allow-fields]"` // these
	Only    []string `yaml:"only" schema:"pattern=^[A-Za-z][A-Za-z0-9_]*$ [allow-fields]: the name of a field; unique [allow-fields]"`    // all but these, and the primary ID
}

// locate records the positions of the key, which doc has at path.
func (k *Key) locate(doc *strictyaml.Document, path, file string) {
	k.nameAt = spotOf(doc.At(path + ".name"))
	k.written, _ = doc.Written(path + ".name")
	k.at = Place{file, doc.At(path).Line}
	k.allowAt = doc.Lines(path + ".allow")
	for i := range k.Hashes {
		k.hashAt = append(k.hashAt, spotOf(doc.At(fmt.Sprintf("%s.key_sha256[%d]", path, i))))
	}
}

// At returns the position of the key.
func (k *Key) At() Place { return k.at }

// AllowAt returns the position of entry i of the allowlist, or that of the key if the entry
// was not read from a file.
func (k *Key) AllowAt(i int) Place {
	if i >= len(k.allowAt) {
		return k.at
	}
	return Place{k.at.File, int(k.allowAt[i])}
}

// Place is a line of a file of the configuration. The zero Place is nowhere.
type Place struct {
	File string
	Line int
}

// String formats the place so that editors can jump to it: keys.d/webshop.yaml:12.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Key returns the api_key of that name, or nil and a suggestion of the name that may be meant.
func (c *Config) Key(name string) (key *Key, meant string) {
	names := make([]string, len(c.APIKeys))
	for i := range c.APIKeys {
		if names[i] = c.APIKeys[i].Name; names[i] == name {
			return &c.APIKeys[i], ""
		}
	}
	return nil, strictyaml.Suggest(name, names)
}

// KeyHash recognises a key without holding it. Several serve one Key while it is
// rotated; each may expire by itself.
type KeyHash struct {
	Hash    Digest `yaml:"hash" schema:"required [key-hash-missing]: a SHA-256 as 64 hexadecimal digits"`
	Expires Expiry `yaml:"expires"`
}

// UnmarshalYAML reads the hash alone or {hash, expires}.
func (k *KeyHash) UnmarshalYAML(n strictyaml.Node) error {
	type fields KeyHash
	switch n.Kind() {
	case strictyaml.Scalar:
		n.Decode(&k.Hash)
	case strictyaml.Mapping:
		n.Decode((*fields)(k))
	default:
		return fmt.Errorf("found %s, expected %s, or {hash, expires}", n.Kind(), digestForm)
	}
	return nil
}

// Digest is a SHA-256.
type Digest [32]byte

const digestForm = "a SHA-256 as 64 hexadecimal digits"

// Short returns the first 8 hexadecimal digits, which are enough to identify a digest.
func (d Digest) Short() string { return hex.EncodeToString(d[:4]) }

// UnmarshalText reads 64 hexadecimal digits. Its error does not repeat the text,
// which may be the key itself, put here by mistake.
func (d *Digest) UnmarshalText(text []byte) error {
	if n := utf8.RuneCount(text); len(text) != hex.EncodedLen(len(d)) {
		switch n {
		case 1:
			return fmt.Errorf("found 1 character, expected %s", digestForm)
		case len("00000000-0000-4000-8000-000000000000"):
			return fmt.Errorf("found %d characters, as an api_key itself has, expected %s; frontdesk key new makes both", n, digestForm)
		}
		return fmt.Errorf("found %d characters, expected %s", n, digestForm)
	}
	var read Digest
	if _, err := hex.Decode(read[:], text); err != nil {
		return fmt.Errorf("found other characters than 0-9 and a-f, expected %s", digestForm)
	}
	*d = read
	return nil
}

// Expiry is the moment from which something is no longer valid. Its zero value
// means never.
type Expiry struct {
	time.Time
	day string // a date, as written; resolve sets Time once the time zone is known. "" for a moment
}

// String formats the expiry as the configuration writes it: the last day, or a moment.
func (e Expiry) String() string {
	if e.day != "" || e.IsZero() {
		return e.day
	}
	return e.Format(time.RFC3339Nano)
}

// ParseExpiry parses an expiry as the configuration writes it; a date means the end of
// that day in zone.
func ParseExpiry(text string, zone *time.Location) (Expiry, error) {
	var e Expiry
	if err := e.UnmarshalText([]byte(text)); err != nil {
		return Expiry{}, err
	}
	e.resolve(zone)
	return e, nil
}

// UnmarshalText reads a date, 2027-01-01, or a moment as RFC 3339 has it.
func (e *Expiry) UnmarshalText(text []byte) error {
	if day, err := time.Parse(time.DateOnly, string(text)); err == nil {
		*e = Expiry{day, string(text)}
		return nil
	}
	var moment time.Time
	if err := moment.UnmarshalText(text); err != nil {
		return strictyaml.Expected("a date such as 2027-01-01 or a time such as 2027-01-01T12:00:00Z")
	}
	*e = Expiry{Time: moment}
	return nil
}

// resolve turns a date into the end of that day: the first moment of the next.
func (e *Expiry) resolve(zone *time.Location) {
	if day, err := time.Parse(time.DateOnly, e.day); err == nil {
		e.Time = time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, zone)
	}
}

// Passed reports whether now is at or after the expiry.
func (e Expiry) Passed(now time.Time) bool { return !e.IsZero() && !now.Before(e.Time) }

// EndOf returns when one of the key's hashes ends: at its own end or that of the key, whichever is
// first.
func (k *Key) EndOf(h KeyHash) Expiry {
	if h.Expires.IsZero() || !k.Expires.IsZero() && k.Expires.Before(h.Expires.Time) {
		return k.Expires
	}
	return h.Expires
}

// Rate bounds how often a key may be used.
type Rate struct {
	PerSecond float64 `yaml:"per_second" schema:"required [rate]: the requests per second in the long run; above=0 [rate]"` // in the long run
	Burst     int     `yaml:"burst" schema:"required [rate]: the requests at once; min=1 [rate]: at least 1"`               // at once
}
