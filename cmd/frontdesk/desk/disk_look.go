package desk

import (
	"sync"
	"time"
)

// LookAtDisk tells of the file system of a folder: which it is, and what is left for whoever
// is not root.
type LookAtDisk func(folder string) (device uint64, d Disk, err error)

// diskPatience is how long a disk is waited for: less than /readyz takes in all.
const diskPatience = time.Second

// boundedTask runs what may hang with a disk and cannot be stopped then: one at a time, and nobody
// waits for it for long.
type boundedTask struct {
	mu    sync.Mutex
	began time.Time
	done  chan struct{} // of what is under way; nil where nothing is
}

// run has f done, unless what was begun before it still is. It waits for the one that is, until
// that has taken diskPatience, and then returns since when it hangs; else the zero time.
func (a *boundedTask) run(f func()) (since time.Time) {
	a.mu.Lock()
	if a.done == nil {
		a.began, a.done = time.Now(), make(chan struct{})
		go func() {
			f()
			a.mu.Lock()
			defer a.mu.Unlock()
			close(a.done)
			a.done = nil
		}()
	}
	began, done := a.began, a.done
	a.mu.Unlock()
	enough := time.NewTimer(time.Until(began.Add(diskPatience)))
	defer enough.Stop()
	select {
	case <-done:
		return time.Time{}
	case <-enough.C:
		return began
	}
}

// diskLook looks at the disk of a folder.
type diskLook struct {
	folder string
	at     LookAtDisk
	task   boundedTask

	mu   sync.Mutex
	last diskSeen
}

// diskSeen is what a look has found; zero where it found nothing out.
type diskSeen struct {
	device uint64
	disk   Disk
}

// now is how the disk is, or was where it hangs.
func (l *diskLook) now() diskSeen {
	since := l.task.run(func() {
		device, disk, err := l.at(l.folder)
		if err != nil {
			device, disk = 0, Disk{}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.last = diskSeen{device, disk}
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.last
	if !since.IsZero() {
		seen.disk.Hangs = &since
	}
	return seen
}
