package desk

import (
	"sync"
	"time"
)

// LookAtDisk identifies the file system of a folder, and returns its size and what is free for
// users other than root.
type LookAtDisk func(folder string) (device uint64, d Disk, err error)

// diskPatience is how long to wait for a disk. It is less than /readyz may take.
const diskPatience = time.Second

// boundedTask runs a function that may hang on a disk and cannot be stopped: one run at a time,
// and nobody waits for it longer than diskPatience.
type boundedTask struct {
	mu    sync.Mutex
	began time.Time
	done  chan struct{} // of what is under way; nil where nothing is
}

// run starts f, unless an earlier run is still under way. It waits for the run under way until
// that has taken diskPatience, and then returns when it began; otherwise the zero time.
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

// diskSeen is the result of a look; zero if it failed.
type diskSeen struct {
	device uint64
	disk   Disk
}

// now returns the state of the disk, the last known one if it hangs.
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
