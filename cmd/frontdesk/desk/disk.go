package desk

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// looks are those at the disks that frontdesk writes to, by what they hold.
type looks map[string]*diskLook

// newLooks makes a look for each folder that frontdesk writes to.
func newLooks(at LookAtDisk, mail config.Mail, store *ownStore) looks {
	l := looks{}
	add := func(holds, folder string) { l[holds] = &diskLook{folder: folder, at: at} }
	if store.file != "" {
		add("database", filepath.Dir(store.file))
		add("results", ResultsFolder(store.file))
	}
	if mail.SMTP == "" {
		add("mail", mail.Folder)
	}
	return l
}

// disks returns the file systems that frontdesk writes to, each once, without those whose size is
// not known.
func (l looks) disks() (all []Disk) {
	var seen [len(diskHolds)]diskSeen
	var looking sync.WaitGroup
	for i, holds := range diskHolds {
		if look := l[holds]; look != nil {
			looking.Go(func() { seen[i] = look.now() })
		}
	}
	looking.Wait()
	byDevice := map[uint64]int{}
	for i, s := range seen {
		if s.disk.Size == 0 && s.disk.Hangs == nil {
			continue
		}
		at, known := byDevice[s.device]
		if !known || s.disk.Size == 0 {
			at, byDevice[s.device] = len(all), len(all)
			all = append(all, s.disk)
		}
		all[at].Holds = append(all[at].Holds, diskHolds[i])
		all[at].Hangs = cmp.Or(all[at].Hangs, s.disk.Hangs)
	}
	return all
}

// resultsLeft returns a function that tells how many bytes the disk of results can take before it
// is low, by its last answer if it hangs; nil if they are in PostgreSQL.
func (l looks) resultsLeft() func() int64 {
	look := l["results"]
	if look == nil {
		return nil
	}
	return func() int64 {
		disk := look.now().disk
		if disk.Size == 0 {
			return math.MaxInt64 / 2 // Bounds.ResultSpace alone bounds them
		}
		return max(disk.Free-disk.low(), 0)
	}
}

// disksEvery is how often changes of the disks are logged.
const disksEvery = 10 * time.Second

// watchDisks logs when a disk hangs or is low, and when that is over, and maintains the spare
// room, until ctx ends.
func (h *Desk) watchDisks(ctx context.Context) {
	var before map[string]string
	var keeping boundedTask
	every(ctx, h.after, disksEvery, func() {
		before = h.tellOfDisks(before)
		keeping.run(func() {
			if err := spareOf(h.store.file).keep(); err != nil {
				h.log.Warn("no spare room can be kept on the disk of the database", zap.Error(err))
			}
		})
	})
}

// tellOfDisks logs the disks whose state has changed, and returns the states.
func (h *Desk) tellOfDisks(before map[string]string) (now map[string]string) {
	now = map[string]string{}
	for _, d := range h.looks.disks() {
		holds := strings.Join(d.Holds, ", ")
		now[holds] = d.state()
		if now[holds] == before[holds] {
			continue
		}
		fields := []zap.Field{zap.String("of", holds), zap.Int64("free", d.Free), zap.Int64("size", d.Size)}
		switch now[holds] {
		case diskHangs:
			h.log.Warn("a disk does not answer: what is written to it waits", zap.String("of", holds), zap.Time("since", *d.Hangs))
		case diskLow:
			h.log.Warn("a disk is nearly full: what cannot be written is refused, and nothing else", fields...)
		default:
			h.log.Info("a disk answers, and has room again", fields...)
		}
	}
	return now
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

// isFull tells whether an error means that a disk is full.
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
