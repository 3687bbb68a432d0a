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
	// Hangs is since when the disk has not answered. The sizes are then those of its last answer; 0
	// if it never answered.
	Hangs *time.Time `json:"hangs_since,omitempty"`
}

// mostLow is the most free space, in bytes, that counts as low on a large disk.
const mostLow = 1 << 30

// low returns the number of free bytes below which the disk is low: a twentieth, on a large disk less.
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

// looks polls the disks that frontdesk writes to. Nothing ends a poll of a disk that hangs: so one
// goroutine polls at a time, and nobody waits for it longer than diskPatience.
type looks struct {
	folders [len(diskHolds)]string // by diskHolds; "" where nothing of that kind is written
	reserve reserve
	at      LookAtDisk
	log     *zap.Logger
	one     chan struct{} // full while a goroutine polls
	ended   atomic.Bool
	now     atomic.Pointer[diskPoll] // nil between polls
	seen    atomic.Pointer[[]Disk]
	results atomic.Int64 // how many bytes the disk of results can take before it is low
}

// diskPoll is a poll of a disk that is under way.
type diskPoll struct {
	holds string
	since time.Time
}

func newLooks(at LookAtDisk, mail config.Mail, store *ownStore, log *zap.Logger) *looks {
	l := &looks{at: at, log: log, reserve: reserveOf(store.file), one: make(chan struct{}, 1)}
	if store.file != "" {
		l.folders[0], l.folders[1] = filepath.Dir(store.file), ResultsFolder(store.file)
	}
	if mail.SMTP == "" {
		l.folders[2] = mail.Folder
	}
	l.results.Store(math.MaxInt64 / 2) // until the first answer, only Bounds.ResultSpace limits results
	l.look()
	return l
}

// look polls all disks, unless an earlier poll is still under way. It waits no longer than
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
		if err := l.reserve.keep(); err != nil {
			l.log.Warn("no spare room can be kept on the disk of the database", zap.Error(err))
		}
	}()
	select {
	case <-done:
	case <-time.After(diskPatience):
	}
}

// close ends the polls. Once it has returned, nothing is written, except to a disk that hangs just then.
func (l *looks) close() error {
	l.ended.Store(true)
	select {
	case l.one <- struct{}{}:
	case <-time.After(diskPatience):
	}
	return nil
}

// lookAtAll lists each file system once, without those whose size is not known.
func (l *looks) lookAtAll() {
	var all []Disk
	byDevice := map[uint64]int{}
	for i, holds := range diskHolds {
		if l.folders[i] == "" {
			continue
		}
		l.now.Store(&diskPoll{holds, time.Now()})
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

// disks returns the disks as they last answered; of one that hangs, also since when.
func (l *looks) disks() (all []Disk) {
	l.look()
	if seen := l.seen.Load(); seen != nil {
		all = slices.Clone(*seen)
	}
	poll := l.now.Load()
	if poll == nil || time.Since(poll.since) < diskPatience {
		return all
	}
	at := slices.IndexFunc(all, func(d Disk) bool { return slices.Contains(d.Holds, poll.holds) })
	if at < 0 {
		return append(all, Disk{Holds: []string{poll.holds}, Hangs: &poll.since})
	}
	all[at].Hangs = &poll.since
	return all
}

// resultsLeft returns a function for how many bytes the disk of results can take before it is
// low, by its last answer; nil if results are in PostgreSQL.
func (l *looks) resultsLeft() func() int64 {
	if l.folders[1] == "" {
		return nil
	}
	return func() int64 {
		l.look()
		return l.results.Load()
	}
}

func (now *Health) judgeDisks(all []Disk) {
	now.Disks = all
	for _, disk := range all {
		switch holds := strings.Join(disk.Holds, ", "); disk.state() {
		case diskHangs:
			now.degraded("the disk of %s has not answered since %s", holds, disk.Hangs.UTC().Format(time.RFC3339))
		case diskLow:
			now.degraded("the disk of %s has %s left of %s", holds, readable(disk.Free), readable(disk.Size))
		}
	}
}

// disksEvery is how often changes of the disks are logged.
const disksEvery = 4 * time.Second

// watchDisks polls the disks until ctx ends, and logs when one hangs or is low, and when that is over.
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

// reserve is a file beside a SQLite database that reserves space for what must work even on a full
// disk: a start, and blocking a user. "" is none.
type reserve string

const (
	reserveSize = 1 << 20
	// reservePart is how much is released at a time. Other writers may take what a command leaves of it;
	// the rest stays reserved for the next command.
	reservePart = 128 << 10
)

// reserveOf returns the reserve of a database file; none if database is "".
func reserveOf(database string) reserve {
	if database == "" {
		return ""
	}
	return reserve(database + "-spare")
}

// keep creates the file, or restores its size, if the disk has enough room.
func (s reserve) keep() error {
	if s == "" {
		return nil
	}
	missing := int64(reserveSize)
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
func (s reserve) release() bool {
	if s == "" {
		return false
	}
	info, err := os.Stat(string(s))
	if err != nil {
		return false
	}
	if left := info.Size() - reservePart; left > 0 {
		return os.Truncate(string(s), left) == nil
	}
	return os.Remove(string(s)) == nil
}

// ReleaseReserve returns a function that frees a part of the space reserved for the database in a
// file ("" for none), and reports whether there was any.
func ReleaseReserve(database string) func() bool { return reserveOf(database).release }

// WithReserve runs f for the database in a file ("" for none). While the disk is full, it frees
// another part of the reserved space and runs f again.
func WithReserve(database string, f func() error) error {
	err := f()
	for isFull(err) && reserveOf(database).release() {
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
