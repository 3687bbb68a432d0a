package archive

import (
	"fmt"
	"path/filepath"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// tellOfKeys says which api_keys are good again although somebody ended them after the archive was
// made, as far as a newer archive beside it knows.
func (r Restore) tellOfKeys(p desk.Program, a *Archive, texts []config.Text) {
	fmt.Fprintf(p.Stdout, "api_keys are those of %s: one that was ended, or narrowed, after that is again as it was then; frontdesk key list --config %s shows them\n",
		a.Time.Format(time.RFC3339), terminal.Safe(a.Config))
	newer, at, err := newest(p, a)
	if err != nil {
		fmt.Fprintf(p.Stdout, "Which those are cannot be told: %v\n", err)
		return
	}
	if newer == nil {
		return
	}
	now, err := desk.ReadForKeys(newer)
	var then *config.Config
	if err == nil {
		then, err = desk.ReadForKeys(texts)
	}
	if err != nil {
		fmt.Fprintf(p.Stdout, "Which those are cannot be told: the configuration of %s: %v\n", at.Format(time.RFC3339), err)
		return
	}
	good := map[config.Digest]bool{}
	for i := range now.APIKeys {
		for _, hash := range now.APIKeys[i].Hashes {
			good[hash.Hash] = !now.APIKeys[i].EndOf(hash).Passed(at)
		}
	}
	for i := range then.APIKeys {
		key := &then.APIKeys[i]
		for _, hash := range key.Hashes {
			if !good[hash.Hash] && !key.EndOf(hash).Passed(time.Now()) {
				fmt.Fprintf(p.Stdout, "ENDED by %s and good again: api_key %s, hash %s; frontdesk key revoke %[2]s --config %[4]s ends it\n",
					at.Format(time.RFC3339), terminal.Safe(key.Name), hash.Hash.Short(), terminal.Safe(a.Config))
			}
		}
	}
}

// newest is the configuration of the newest archive beside this one, if that is newer.
func newest(p desk.Program, a *Archive) (texts []config.Text, at time.Time, err error) {
	files, err := a.Others(filepath.Dir(a.File))
	if err != nil || len(files) == 0 {
		return nil, at, err
	}
	other, err := Open(files[len(files)-1])
	if err != nil {
		return nil, at, err
	}
	defer other.Close()
	if !other.Time.After(a.Time) {
		return nil, at, nil
	}
	texts, err = other.Texts(p.Ctx)
	return texts, other.Time, err
}
