package instrument

import (
	"cmp"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"frontdesk/cmd/frontdesk/atomicfile"
)

// kept is what a file holds.
type kept struct {
	Format          int
	At              int64
	ID              string
	Minutes, Steps  []Step
	ByLimit, Others []Refusal
	Marks           []Mark
	Seen            map[string]map[Tie]*Uses
	Since, Full     int64 // seen.since and seen.full
}

// format is the format of the files. A file of another format is not read: its figures would be wrong.
const format = 3

// begins is how a file begins. A file that begins otherwise is not ours, and must not be overwritten.
const begins = "frontdesk history\n"

// ErrForeign says that a file is not a history.
var ErrForeign = errors.New("is a file of something else than this history")

// ErrYetToCome says that a file was written when the clock was ahead. The history goes on without the
// steps that are in the future.
var ErrYetToCome = errors.New("which is yet to come")

// Save writes the history to a file, completely or not at all.
func (i *Instrument) Save(file string) error {
	return atomicfile.Write(file, 0o600, func(w io.Writer) error {
		if _, err := io.WriteString(w, begins); err != nil {
			return err
		}
		packed, err := flate.NewWriter(w, flate.BestSpeed)
		if err != nil {
			return err
		}
		if err := gob.NewEncoder(packed).Encode(i.kept()); err != nil {
			return err
		}
		return packed.Close()
	})
}

func (i *Instrument) kept() kept {
	i.looking.Lock()
	defer i.looking.Unlock()
	counts := i.counts()
	i.mu.Lock()
	defer i.mu.Unlock()
	k := kept{
		Format: format, At: i.clock().Unix(), ID: i.id, Minutes: append([]Step(nil), i.minutes...), Steps: append([]Step(nil), i.steps...),
		ByLimit: withoutUsers(i.refused.byLimit), Others: withoutUsers(i.refused.others),
		Marks: append([]Mark(nil), i.marks...), Seen: i.seen.keep(i.clock()), Since: i.seen.since, Full: i.seen.full,
	}
	k.Steps = append(k.Steps, i.step(counts))
	return k
}

// withoutUsers returns the newest refusals without the names of users, for a file.
func withoutUsers(all []Refusal) []Refusal {
	kept := slices.Clone(newest(all))
	for i := range kept {
		kept[i].User = ""
	}
	return kept
}

// mostFile bounds what is read of a file.
const mostFile = 64 << 20

// Load continues the history in a file; a missing or empty file is no error. It is for an instrument
// that has counted nothing yet. It may fail with ErrForeign, or with ErrYetToCome, which says only that
// some steps are missing.
func (i *Instrument) Load(file string) error {
	switch info, err := os.Stat(file); {
	case errors.Is(err, os.ErrNotExist), err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", file, ErrForeign)
	}
	f, err := os.Open(file) // #nosec G304 -- the operator's own file
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(begins))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != begins {
		return fmt.Errorf("%s: %w", file, ErrForeign)
	}
	_ = atomicfile.RemoveUnfinished(file) // left by a process that was killed; if it cannot be removed, Save fails and reports that
	var k kept
	if err := gob.NewDecoder(flate.NewReader(io.LimitReader(f, mostFile))).Decode(&k); err != nil {
		return fmt.Errorf("%s is damaged: %w", file, err)
	}
	if k.Format != format {
		return fmt.Errorf("%s is the history of another version", file)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id, i.minutes, i.steps, i.marks = cmp.Or(k.ID, i.id), k.Minutes, k.Steps, k.Marks
	i.refused.byLimit, i.refused.others = k.ByLimit, k.Others
	for _, of := range [...][]Refusal{k.ByLimit, k.Others} {
		for _, r := range of {
			i.numbered = max(i.numbered, r.Number)
		}
	}
	i.seen.since, i.seen.full = k.Since, k.Full
	i.seen.put(k.Seen)
	now := i.clock()
	i.age(stepOf(now))
	if k.At > now.Unix() {
		return fmt.Errorf("%s was written at %s, %w", file, time.Unix(k.At, 0).UTC().Format(time.DateTime), ErrYetToCome)
	}
	return nil
}
