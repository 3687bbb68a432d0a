package keys

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// List writes when the api_keys of a configuration end, how they are recognised, when they were last
// used, and how many entries their allowlists have.
func List(p desk.Program, c *config.Config) error {
	if len(c.APIKeys) == 0 {
		_, err := fmt.Fprintln(p.Stderr, "There is no api_key yet; frontdesk key new makes one.")
		return err
	}
	var uses neighbours.KeyUses
	err := desk.AskNeighbours(p, c, func(ctx context.Context, of *neighbours.Tables) (err error) {
		uses, err = of.KeyUses(ctx)
		return err
	})
	if err != nil {
		fmt.Fprintf(p.Stderr, "When they were used last is not known: %s\n", c.Hide(err.Error()))
	}
	table := terminal.NewTable(p.Stdout, "NAME", "ENDS", "SHA-256", "LAST USED", "ENTRIES", "WHERE")
	for i := range c.APIKeys {
		key := &c.APIKeys[i]
		ends := cmp.Or(key.Expires.String(), "never")
		if key.Expires.Passed(time.Now()) {
			ends += " (ended)"
		}
		hashes, used := hashesOf(key, uses)
		table.Row(key.Name, ends, hashes, used, len(key.Allow), key.At())
	}
	return table.Flush()
}

// hashesOf returns the first digits of the hashes of a key, each with its end if it has one of its own,
// and in the same order when each was last used.
func hashesOf(key *config.Key, uses neighbours.KeyUses) (names, used string) {
	var allNames, allUsed []string
	for _, h := range key.Hashes {
		name, last := h.Hash.Short(), "-"
		if at, known := uses[neighbours.HashOfKey{Key: key.Name, SHA256: name}]; known {
			last = terminal.Minute(at)
		}
		switch {
		case h.Expires.Passed(time.Now()):
			name += " (ended)"
		case !h.Expires.IsZero():
			name += " (ends " + h.Expires.String() + ")"
		}
		allNames, allUsed = append(allNames, name), append(allUsed, last)
	}
	return strings.Join(allNames, ", "), strings.Join(allUsed, ", ")
}
