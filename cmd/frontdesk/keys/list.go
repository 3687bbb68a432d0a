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

// List writes when the api_keys of a configuration end, how they are recognised, and how
// much they may do.
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
	now := time.Now()
	table := terminal.NewTable(p.Stdout)
	fmt.Fprintln(table, "NAME\tENDS\tIN\tSHA-256\tLAST USED\tENTRIES\tWHERE")
	for i := range c.APIKeys {
		key := &c.APIKeys[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", key.Name, cmp.Or(key.Expires.String(), "never"), timeLeft(key.Expires, now),
			hashesOf(*key, now), usesOf(*key, uses), len(key.Allow), key.At())
	}
	return table.Flush()
}

// hashesOf names the hashes of a key by their first digits, each with its end
// where it has one of its own.
func hashesOf(key config.Key, now time.Time) string {
	var hashes []string
	for _, h := range key.Hashes {
		text := h.Hash.Short()
		switch {
		case h.Expires.Passed(now):
			text += " (ended)"
		case !h.Expires.IsZero():
			text += " (ends " + h.Expires.String() + ")"
		}
		hashes = append(hashes, text)
	}
	return strings.Join(hashes, ", ")
}

// usesOf tells when each hash of a key was used last, in the order of hashesOf.
func usesOf(key config.Key, uses neighbours.KeyUses) string {
	var all []string
	for _, h := range key.Hashes {
		text := "-"
		if at, known := uses[neighbours.HashOfKey{Key: key.Name, SHA256: h.Hash.Short()}]; known {
			text = terminal.Minute(at)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// timeLeft is how long there is until the end, in days that are whole.
func timeLeft(e config.Expiry, now time.Time) string {
	switch left := e.Sub(now); {
	case e.IsZero():
		return "-"
	case left <= 0:
		return "ended"
	case left < 24*time.Hour:
		return "less than a day"
	default:
		return fmt.Sprintf("%d days", int(left/(24*time.Hour)))
	}
}
