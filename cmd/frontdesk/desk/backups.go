package desk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// backups knows when the newest of the files of ops.backups was written. A goroutine of its own looks at
// the files, since their disk may hang.
type backups struct {
	patterns []string
	newest   atomic.Pointer[time.Time] // the zero time if there is no file; nil before the first look
}

const (
	// BackupsEvery is how often the files of ops.backups are looked at.
	BackupsEvery = time.Minute
	// backupOld is the age from which the newest backup is reported as old: the next nightly one is due
	// after a day, and may take two hours.
	backupOld = 26 * time.Hour
)

func (b *backups) look() {
	newest := time.Time{}
	for _, pattern := range b.patterns {
		files, _ := filepath.Glob(pattern) // the configuration has judged the patterns
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
	}
	b.newest.Store(&newest)
}

// watchBackups looks at the backups until ctx ends, if ops.backups names any.
func (h *Desk) watchBackups(ctx context.Context) {
	if len(h.backups.patterns) > 0 {
		every(ctx, h.after, BackupsEvery, h.backups.look)
	}
}

// judgeBackups reports that the newest backup is old, or that there is none.
func (h *Desk) judgeBackups(now *Health) {
	newest := h.backups.newest.Load()
	switch {
	case newest == nil:
	case newest.IsZero():
		now.LookAt = append(now.LookAt, "there is no backup: nothing matches ops.backups")
	case h.now().Sub(*newest) > backupOld:
		now.LookAt = append(now.LookAt, fmt.Sprintf("the newest backup is of %s: ops.backups has none of the last %.0f hours", newest.UTC().Format(time.RFC3339), backupOld.Hours()))
	}
}
