package history

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
	Format   int
	Step     int64
	Series   []keptSeries
	Refusals []Refusal // oldest first
	Marks    []Mark
	Short    []Levels
	Long     []Levels
	Ties     []keptTies
	Tied     int64 // since when those of keys are counted, in seconds since 1970
	TiedFull int64 // when one of them was last not counted
	ID       string
}

type keptSeries struct {
	Kind   Kind
	Rest   bool
	Name   Name
	Recent float64
	Short  []Point
	Long   []Point
}

// format is that of the files. One of another format is not read: its figures would be wrong.
const format = 2

// begins is how a file begins: what does not is none of ours, and not to be written over.
const begins = "frontdesk history\n"

// ErrForeign says that a file is no history, damaged or not.
var ErrForeign = errors.New("is a file of something else than this history")

// ErrYetToCome says that a file was written when the clock was ahead. The history goes on with all of
// it that is not of steps that are yet to come.
var ErrYetToCome = errors.New("which is yet to come")

// Save writes the history to a file, whole or not at all.
func (h *History) Save(file string) error {
	return atomicfile.Write(file, 0o600, func(w io.Writer) error {
		if _, err := io.WriteString(w, begins); err != nil {
			return err
		}
		packed, err := flate.NewWriter(w, flate.BestSpeed)
		if err != nil {
			return err
		}
		if err := gob.NewEncoder(packed).Encode(h.kept()); err != nil {
			return err
		}
		return packed.Close()
	})
}

func (h *History) kept() kept {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance(stepOf(h.clock()))
	k := kept{Format: format, Step: h.step, Marks: append([]Mark(nil), h.marks...), Ties: h.keepTies(), Tied: h.tied.since, TiedFull: h.tied.full, ID: h.id}
	k.Refusals = h.refusals.newest(2*MostRefusals, func(*Refusal) bool { return true })
	slices.Reverse(k.Refusals)
	short, long := Span{Short, shortSteps}, Span{Long, longSteps}
	keep := func(of Kind, rest bool, s *series) {
		k.Series = append(k.Series, keptSeries{of, rest, s.name, s.recent, h.read(s, short).Points, h.read(s, long).Points})
	}
	keep(All, false, h.all)
	for of := Endpoint; of < kinds; of++ {
		keep(of, true, h.rest[of])
		for _, s := range h.known[of] {
			keep(of, false, s)
		}
	}
	for i := range shortSteps {
		k.Short = append(k.Short, h.gauges.short[(h.step+1+int64(i))%int64(shortSteps)])
	}
	for i := range longSteps {
		k.Long = append(k.Long, h.gauges.long[(h.step/int64(Long/Short)+1+int64(i))%int64(longSteps)])
	}
	return k
}

// Load goes on from what a file has; there may be none, or an empty one. It is for a history that
// has noted nothing yet, and after an error for none, except ErrYetToCome. It fails with ErrForeign.
func (h *History) Load(file string) error {
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
	_ = atomicfile.RemoveUnfinished(file) // of a process that was killed; who cannot remove it cannot save either, and tells that
	var k kept
	if err := gob.NewDecoder(flate.NewReader(io.LimitReader(f, mostFile))).Decode(&k); err != nil {
		return fmt.Errorf("%s is damaged: %w", file, err)
	}
	if k.Format != format || len(k.Short) != shortSteps || len(k.Long) != longSteps {
		return fmt.Errorf("%s is the history of another version", file)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.step
	h.step = k.Step
	for i := range k.Series {
		if err := h.put(&k.Series[i]); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for i, l := range k.Short {
		h.gauges.short[(k.Step+1+int64(i))%int64(shortSteps)] = l
	}
	for i, l := range k.Long {
		h.gauges.long[(k.Step/int64(Long/Short)+1+int64(i))%int64(longSteps)] = l
	}
	for i := range k.Refusals {
		*h.refusals.next(k.Refusals[i].Status) = k.Refusals[i]
	}
	h.marks, h.id = k.Marks, cmp.Or(k.ID, h.id)
	h.putTies(&k)
	if k.Step > now {
		h.goBack(now)
		return fmt.Errorf("%s was written at %s, %w", file, time.Unix(k.Step*int64(Short/time.Second), 0).UTC().Format(time.DateTime), ErrYetToCome)
	}
	h.advance(now)
	return nil
}

// mostFile bounds what is read of a file.
const mostFile = 64 << 20

func (h *History) put(k *keptSeries) error {
	if k.Kind < All || k.Kind >= kinds || len(k.Short) != shortSteps || len(k.Long) != longSteps {
		return errors.New("a series of it is damaged")
	}
	s := &series{name: k.Name, recent: k.Recent, ties: ties{since: h.clock().Unix()}} // unless the file has when
	for i, p := range k.Short {
		s.short[(h.step+1+int64(i))%int64(shortSteps)] = p
	}
	for i, p := range k.Long {
		s.long[(h.step/int64(Long/Short)+1+int64(i))%int64(longSteps)] = p
	}
	switch {
	case k.Kind == All:
		h.all = s
	case k.Rest:
		h.rest[k.Kind] = s
	case len(h.known[k.Kind]) < mostKept:
		h.known[k.Kind][k.Name] = s
	}
	return nil
}
