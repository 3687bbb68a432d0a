package desk

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/revisions"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// byStart is the trigger of the configuration that a gateway begins with.
const byStart = "start"

// differencesAtMost is how many of a revision are kept.
const differencesAtMost = 500

// noteStart keeps the configuration that the gateway starts with, unless it is the one that was
// in force before.
func (k *reloader) noteStart() {
	h := k.desk
	current := h.live.Current()
	r := revisions.Revision{At: current.since, Digest: current.policy.Hash, Trigger: byStart}
	before, known := h.book.inForce()
	if known && before.Digest == r.Digest {
		return
	}
	if known {
		r.Files = filesOf(writtenSince(current.config.Files(), before.At))
		if was, err := h.before(before); err != nil {
			r.Unknown = "the configuration before cannot be read: " + inOneLine(problemsOf(err))
		} else {
			k.compared(&r, was, current.config)
		}
	}
	h.book.note(r, k.texts())
}

// before is a configuration of the past. What its api_keys are allowed is not judged.
func (h *Desk) before(r revisions.Revision) (*config.Config, error) {
	texts, err := h.book.store.Texts(r.N)
	if err != nil {
		return nil, err
	}
	return ReadForKeys(texts)
}

// noteTaken keeps a configuration that came in force.
func (k *reloader) noteTaken(trigger string, before, after *snapshot) {
	r := revisions.Revision{At: after.since, Digest: after.policy.Hash, Trigger: trigger, Files: filesOf(writtenSince(after.config.Files(), before.since))}
	k.compared(&r, before.config, after.config)
	n, _ := k.desk.book.note(r, k.texts())
	k.desk.past.MarkOf("configuration", fmt.Sprintf("configuration %d (%s) in force", n, r.Digest), configPage(n))
}

// noteRefused keeps that a configuration was refused, and what it would have changed as far as it
// could be read. Its texts are not kept: they may hold an api_key that was put in the place of its
// hash.
func (k *reloader) noteRefused(trigger string, read *config.Config, err error) {
	h := k.desk
	current := h.live.Current().config
	r := revisions.Revision{At: time.Now(), Trigger: trigger, Refused: true, Problems: problemsOf(err)}
	var problems strictyaml.Problems
	whole := func(p strictyaml.Problem) bool { return p.Path == "" } // the file cannot be read at all
	known := errors.As(err, &problems) && !slices.ContainsFunc(problems, whole)
	if known && read == nil {
		read = k.loader.Draft()
	}
	if !known || read == nil {
		r.Unknown = "it could not be read"
	} else {
		r.Digest, r.Files = read.Hash(), filesOf(writtenSince(read.Files(), h.live.Current().since))
		k.compared(&r, current, read)
		r.Differences = slices.DeleteFunc(r.Differences, func(d config.Difference) bool { return isUnread(d, current, problems) })
		if len(r.Differences) == 0 && r.Unknown == "" {
			r.Unknown = "nothing else that could be read"
		}
	}
	if n, again := h.book.note(r, nil); !again {
		h.past.MarkOf("configuration", "configuration refused: "+summary(err), configPage(n))
	}
}

// isUnread tells whether a difference is due to what could not be read: such a setting has its
// default, and an api_key of such a file may seem to be gone.
func isUnread(d config.Difference, current *config.Config, problems strictyaml.Problems) bool {
	i := slices.IndexFunc(current.APIKeys, func(k config.Key) bool { return k.Name == d.Key })
	return slices.ContainsFunc(problems, func(p strictyaml.Problem) bool {
		return d.Key == "" && strings.HasPrefix(d.Text, p.Path+":") || i >= 0 && current.APIKeys[i].At().File == p.File
	})
}

// compared fills in the differences.
func (k *reloader) compared(r *revisions.Revision, from, to *config.Config) {
	r.Differences = config.Differences(from, to, endpointsOf(k.desk.Gateway.Grants()), time.Now())
	if len(r.Differences) == 0 {
		r.Unknown = "nothing but comments, the order of what is written, or values of variables"
	}
	if more := len(r.Differences) - differencesAtMost; more > 0 {
		r.Differences, r.More = r.Differences[:differencesAtMost], more
	}
}

// texts are those that were read last, by their absolute paths; none if they have changed since.
func (k *reloader) texts() []config.Text {
	texts, ok := k.loader.Texts()
	if !ok {
		return nil
	}
	for i := range texts {
		path, err := filepath.Abs(texts[i].Path)
		if err != nil {
			return nil
		}
		texts[i].Path = path
	}
	return texts
}

func filesOf(written writtenFiles) []revisions.File {
	all := make([]revisions.File, len(written))
	for i, f := range written {
		all[i] = revisions.File{Path: f.name, Owner: f.owner, Written: f.written}
	}
	return all
}
