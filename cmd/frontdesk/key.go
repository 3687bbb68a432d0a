package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"frontdesk/config"
)

type keyCommands struct {
	New keyNewCommand `cmd:"" help:"Make an api_key: print it once, and the configuration that knows it by its SHA-256."`
}

type keyNewCommand struct {
	Name string `arg:"" help:"What the key is called in the configuration and in logs."`
}

// Run prints a new key. It is kept nowhere.
func (k keyNewCommand) Run(p program) error {
	if !config.IsKeyName(k.Name) {
		return misused("key name %q: expected lower-case letters, digits, - and _, such as webshop", k.Name)
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(id.String()))
	_, err = fmt.Fprintf(p.stdout, `api_key: %s

Hand it to whoever will use it; it is shown only now. Into the configuration:

api_keys:
  - name: %s
    key_sha256: ["%s"]
    allow: []   # nothing yet, for example ["GET /order", "* /vehicle"]
`, id, k.Name, hex.EncodeToString(sum[:]))
	return err
}
