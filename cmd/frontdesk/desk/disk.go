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
}

// mostLow bounds what is low on a large disk, in bytes.
const mostLow = 1 << 30

// low is how many bytes are too few: five in a hundred, on a large disk fewer.
func (d Disk) low() int64 { return min(d.Size/20, mostLow) }

// Low tells whether somebody should look.
func (d Disk) Low() bool { return d.Free < d.low() }

// written are the folders that frontdesk writes to, by what they hold.
func (h *Desk) written() map[string]string {
	folders := map[string]string{}
	if file := h.system.Own.file; file != "" {
		folders["database"] = filepath.Dir(file)
	}
	if h.resultsFolder != "" {
		folders["results"] = h.resultsFolder
	}
	if h.config.Mail.SMTP == "" {
		folders["mail"] = h.config.Mail.Folder
	}
	return folders
}

// disks are the file systems that frontdesk writes to, each once. Where nobody can tell
// of one it is left out.
func (h *Desk) disks() []Disk {
	byDevice := map[uint64]int{}
	var all []Disk
	folders := h.written()
	for _, holds := range []string{"database", "results", "mail"} {
		device, disk, err := diskOf(folders[holds])
		if folders[holds] == "" || err != nil {
			continue
		}
		at, known := byDevice[device]
		if !known {
			at, byDevice[device] = len(all), len(all)
			all = append(all, disk)
		}
		all[at].Holds = append(all[at].Holds, holds)
	}
	return all
}

// resultsLeft tells how many bytes more the disk of results has room for, before it is low;
// nil where they are in no folder.
func (h *Desk) resultsLeft() func() int64 {
	if h.resultsFolder == "" {
		return nil
	}
	return func() int64 {
		_, disk, err := diskOf(h.resultsFolder)
		if err != nil {
			return math.MaxInt64 / 2 // webhooks.space alone bounds them
		}
		return max(disk.Free-disk.low(), 0)
	}
}

// disksEvery is how often the log is told what became of the disks.
const disksEvery = 10 * time.Second

// watchDisks logs when a disk is low, and when it no longer is, and keeps spare room, for
// as long as ctx lives.
func (h *Desk) watchDisks(ctx context.Context) {
	var low []string
	for {
		var now []string
		for _, d := range h.disks() {
			holds := strings.Join(d.Holds, ", ")
			if d.Low() {
				now = append(now, holds)
			}
			if slices.Contains(now, holds) == slices.Contains(low, holds) {
				continue
			}
			fields := []zap.Field{zap.String("of", holds), zap.Int64("free", d.Free), zap.Int64("size", d.Size)}
			if d.Low() {
				h.log.Warn("a disk is nearly full: what cannot be written is refused, and nothing else", fields...)
			} else {
				h.log.Info("a disk has room again", fields...)
			}
		}
		low = now
		if err := spareOf(h.system.Own.file).keep(); err != nil {
			h.log.Warn("no spare room can be kept on the disk of the database", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-h.after(disksEvery):
		}
	}
}

// spare is a file beside a SQLite database that holds room for what has to be possible on a
// full disk too: a start, and that a user is blocked. "" is none.
type spare string

const spareSize = 1 << 20

// spareOf is the spare room of a database in a file; none where that is "".
func spareOf(database string) spare {
	if database == "" {
		return ""
	}
	return spare(database + "-spare")
}

// keep makes the file where it is missing, or was not written whole, and the disk has room
// enough.
func (s spare) keep() error {
	if s == "" {
		return nil
	}
	if info, err := os.Stat(string(s)); err == nil && info.Size() == spareSize {
		return nil
	}
	if _, disk, err := diskOf(filepath.Dir(string(s))); err != nil || disk.Free < disk.low()+spareSize {
		return nil
	}
	content := make([]byte, spareSize)
	_, _ = rand.Read(content) // zeros take no room on some disks
	err := os.WriteFile(string(s), content, 0o600)
	if err != nil {
		err = errors.Join(err, os.Remove(string(s)))
	}
	return err
}

// release lets go of the room, and tells whether there was any.
func (s spare) release() bool { return s != "" && os.Remove(string(s)) == nil }

// WithSpare does what has to be possible on a full disk too, for the database in a file ("" for
// none): where the disk is full it is done once more with the spare room.
func WithSpare(database string, f func() error) error {
	err := f()
	if isFull(err) && spareOf(database).release() {
		err = f()
	}
	if isFull(err) {
		err = fmt.Errorf("%w: the disk is full; free some of it, and do it again", err)
	}
	return err
}

// isFull tells whether an error is that of a full disk.
func isFull(err error) bool {
	return sqlrecord.DiskFull(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// DatabaseFileOf is the SQLite file of the built-in administration; "" where there is none.
func DatabaseFileOf(c *config.Config) string {
	file, ok := strings.CutPrefix(string(c.Backend.DSN), "sqlite:")
	if c.Backend.Driver != ReferenceDriver || !ok {
		return ""
	}
	return file
}
