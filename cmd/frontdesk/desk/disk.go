package desk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
	"frontdesk/config"
)

// Disk is a file system that frontdesk writes to, or several roles of one.
type Disk struct {
	Holds []string `json:"holds"` // database, results or mail
	Free  int64    `json:"free_bytes"`
	Size  int64    `json:"size_bytes"`
	// Hangs is since when the disk has not answered. The sizes are then from before; 0 if it never
	// answered.
	Hangs *time.Time `json:"hangs_since,omitempty"`
}

// mostLow is the most free space, in bytes, that counts as low on a large disk.
const mostLow = 1 << 30

// low is how many bytes are too few: five in a hundred, on a large disk fewer.
func (d Disk) low() int64 { return min(d.Size/20, mostLow) }

// The states of a disk that somebody should look at.
const (
	diskHangs = "hangs"
	diskLow   = "low"
)

// state is "" for a disk that nobody has to look at.
func (d Disk) state() string {
	switch {
	case d.Hangs != nil:
		return diskHangs
	case d.Free < d.low():
		return diskLow
	default:
		return ""
	}
}

// diskHolds are the kinds of data that frontdesk writes to disks, in the order of the
// report.
var diskHolds = [...]string{"database", "results", "mail"}

// LookAtDisk identifies the file system of a folder, and returns its size and what is free for
// users other than root.
type LookAtDisk func(folder string) (device uint64, d Disk, err error)

// diskPatience is how long to wait for a disk. It is less than /readyz may take.
const diskPatience = time.Second

// looks are those at the disks that frontdesk writes to. Nothing ends one that hangs with a disk: so one
// goroutine does it at a time, and nobody waits for it.
type looks struct {
	folders [len(diskHolds)]string // "" where nothing of that is written
	spare   spare
	at      LookAtDisk
	log     *zap.Logger
	one     chan struct{} // in it, who looks
	ended   atomic.Bool
	now     atomic.Pointer[diskAsked] // nil while nothing is asked
	seen    atomic.Pointer[[]Disk]
	results atomic.Int64 // how many bytes the disk of results can take before it is low
}

// diskAsked is a disk that is being asked.
type diskAsked struct {
	holds string
	since time.Time
}

func newLooks(at LookAtDisk, mail config.Mail, store *ownStore, log *zap.Logger) *looks {
	l := &looks{at: at, log: log, spare: spareOf(store.file), one: make(chan struct{}, 1)}
	if store.file != "" {
		l.folders[0], l.folders[1] = filepath.Dir(store.file), ResultsFolder(store.file)
	}
	if mail.SMTP == "" {
		l.folders[2] = mail.Folder
	}
	l.results.Store(math.MaxInt64 / 2) // Bounds.ResultSpace alone bounds them
	l.look()
	return l
}

// look looks at all disks, unless an earlier look is still under way. It does not wait longer than
// diskPatience.
func (l *looks) look() {
	select {
	case l.one <- struct{}{}:
	default:
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { <-l.one }()
		defer l.now.Store(nil)
		l.lookAtAll()
		if l.ended.Load() {
			return
		}
		if err := l.spare.keep(); err != nil {
			l.log.Warn("no spare room can be kept on the disk of the database", zap.Error(err))
		}
	}()
	select {
	case <-done:
	case <-time.After(diskPatience):
	}
}

// close ends the looks: nothing is written once it has returned, but by a disk that hangs just then.
func (l *looks) close() error {
	l.ended.Store(true)
	select {
	case l.one <- struct{}{}:
	case <-time.After(diskPatience):
	}
	return nil
}

// lookAtAll finds the file systems, each once, without those whose size is not known.
func (l *looks) lookAtAll() {
	var all []Disk
	byDevice := map[uint64]int{}
	for i, holds := range diskHolds {
		if l.folders[i] == "" {
			continue
		}
		l.now.Store(&diskAsked{holds, time.Now()})
		device, disk, err := l.at(l.folders[i])
		if err != nil || disk.Size == 0 {
			continue
		}
		if holds == "results" {
			l.results.Store(max(disk.Free-disk.low(), 0))
		}
		at, known := byDevice[device]
		if !known {
			at, byDevice[device] = len(all), len(all)
			all = append(all, disk)
		}
		all[at].Holds = append(all[at].Holds, holds)
	}
	l.seen.Store(&all)
}

// disks returns the disks as they are, or were when they answered last, and since when one of them has not.
func (l *looks) disks() (all []Disk) {
	l.look()
	if seen := l.seen.Load(); seen != nil {
		all = slices.Clone(*seen)
	}
	asked := l.now.Load()
	if asked == nil || time.Since(asked.since) < diskPatience {
		return all
	}
	at := slices.IndexFunc(all, func(d Disk) bool { return slices.Contains(d.Holds, asked.holds) })
	if at < 0 {
		return append(all, Disk{Holds: []string{asked.holds}, Hangs: &asked.since})
	}
	all[at].Hangs = &asked.since
	return all
}

// resultsLeft returns a function that tells how many bytes the disk of results can take before it
// is low, by its last answer; nil if they are in PostgreSQL.
func (l *looks) resultsLeft() func() int64 {
	if l.folders[1] == "" {
		return nil
	}
	return func() int64 {
		l.look()
		return l.results.Load()
	}
}

// disksEvery is how often changes of the disks are logged.
const disksEvery = 4 * time.Second

// watchDisks looks at the disks until ctx ends, and logs when one hangs or is low, and when that is over.
func (h *Desk) watchDisks(ctx context.Context) {
	before := map[string]string{}
	every(ctx, h.after, disksEvery, func() {
		for _, d := range h.looks.disks() {
			holds, state := strings.Join(d.Holds, ", "), d.state()
			if state == before[holds] {
				continue
			}
			before[holds] = state
			fields := []zap.Field{zap.String("of", holds), zap.Int64("free", d.Free), zap.Int64("size", d.Size)}
			switch state {
			case diskHangs:
				h.log.Warn("a disk does not answer: what is written to it waits", zap.String("of", holds), zap.Time("since", *d.Hangs))
			case diskLow:
				h.log.Warn("a disk is nearly full: what cannot be written is refused, and nothing else", fields...)
			default:
				h.log.Info("a disk answers, and has room again", fields...)
			}
		}
	})
}

// spare is a file beside a SQLite database that reserves space for what must work on a full disk
// too: a start, and blocking a user. "" is none.
type spare string

const (
	spareSize = 1 << 20
	// sparePart is how much is released at once. Other writers may take what is left of it; the
	// rest stays for the next command.
	sparePart = 128 << 10
)

// spareOf returns the spare room of a database file; none if file is "".
func spareOf(database string) spare {
	if database == "" {
		return ""
	}
	return spare(database + "-spare")
}

// keep creates the file, or restores its size, if the disk has enough room.
func (s spare) keep() error {
	if s == "" {
		return nil
	}
	missing := int64(spareSize)
	if info, err := os.Stat(string(s)); err == nil {
		missing -= info.Size()
	}
	if missing <= 0 {
		return nil
	}
	if _, disk, err := diskOf(filepath.Dir(string(s))); err != nil || disk.Free < disk.low()+missing {
		return nil
	}
	content := make([]byte, missing)
	_, _ = rand.Read(content) // zeros take no room on some disks
	file, err := os.OpenFile(string(s), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// release frees a part of the space, and reports whether there was any.
func (s spare) release() bool {
	if s == "" {
		return false
	}
	info, err := os.Stat(string(s))
	if err != nil {
		return false
	}
	if left := info.Size() - sparePart; left > 0 {
		return os.Truncate(string(s), left) == nil
	}
	return os.Remove(string(s)) == nil
}

// ReleaseSpare returns a function that frees a part of the space reserved for the database in a
// file ("" for none), and reports whether there was any.
func ReleaseSpare(database string) func() bool { return spareOf(database).release }

// WithSpare runs f, which must work on a full disk too, for the database in a file ("" for none).
// As long as the disk is full, it frees another part of the reserved space and runs f again.
func WithSpare(database string, f func() error) error {
	err := f()
	for isFull(err) && spareOf(database).release() {
		err = f()
	}
	return AdviseFull(err)
}

// AdviseFull adds advice to the error of a full disk.
func AdviseFull(err error) error {
	if isFull(err) {
		err = fmt.Errorf("%w: the disk is full; free some of it, and do it again", err)
	}
	return err
}

// isFull reports whether an error means that a disk is full.
func isFull(err error) bool {
	return sqlrecord.DiskFull(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// DatabaseFileOf returns the SQLite file that backend.dsn names; "" if it names none.
func DatabaseFileOf(c *config.Config) string {
	file, ok := strings.CutPrefix(string(c.Backend.DSN), "sqlite:")
	if c.Backend.BySheet() || !ok {
		return ""
	}
	return file
}
