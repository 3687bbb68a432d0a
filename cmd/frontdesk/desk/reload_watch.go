package desk

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// fileWatch tells that files may have changed. It watches the folders they are
// in, and those of every symbolic link on the way to them: a file is replaced
// rather than written, and a mounted ConfigMap is replaced by a link.
type fileWatch struct {
	notify *fsnotify.Watcher
	out    chan struct{}
	stop   chan struct{}
	done   chan struct{}

	interest chan interest // the current one, for the goroutine that sorts events
}

// interest is what counts of all that happens in the folders that are watched.
type interest struct {
	names   map[string]bool // files, and links on the way to them
	folders map[string]bool // where everything counts: those of included files
}

func newFileWatch() (*fileWatch, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w (serve --no-watch does without)", err)
	}
	w := &fileWatch{
		notify: notify, out: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), interest: make(chan interest, 1),
	}
	go w.sort()
	return w, nil
}

// changes delivers once for any number of changes since it was last received from.
func (w *fileWatch) changes() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.out
}

func (w *fileWatch) close() error {
	if w == nil {
		return nil
	}
	close(w.stop)
	<-w.done
	return w.notify.Close()
}

// sort passes on what counts: the folder may hold a busy database as well.
func (w *fileWatch) sort() {
	defer close(w.done)
	var of interest
	for {
		select {
		case <-w.stop:
			return
		case of = <-w.interest:
		case event := <-w.notify.Events:
			if of.counts(event) {
				w.wake()
			}
		case <-w.notify.Errors: // too much happened to tell it all
			w.wake()
		}
	}
}

func (w *fileWatch) wake() {
	select {
	case w.out <- struct{}{}:
	default:
	}
}

func (i interest) counts(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	kind := filepath.Ext(e.Name)
	return i.names[e.Name] || i.folders[filepath.Dir(e.Name)] || kind == ".yaml" || kind == ".yml"
}

// follow watches these files from now on, the first being that of the
// configuration, and all that happens in the further folders.
func (w *fileWatch) follow(files, folders []string) error {
	of := interest{names: map[string]bool{}, folders: map[string]bool{}}
	wanted, ways := map[string]bool{}, ways{}
	for i, file := range files {
		for _, name := range ways.to(file) {
			of.names[name] = true
			wanted[filepath.Dir(name)] = true
		}
		if i > 0 {
			continue
		}
		for _, folder := range folders { // beside the first file lie others that are not ours
			way := ways.to(folder)
			for _, link := range way[:len(way)-1] {
				of.names[link] = true
				wanted[filepath.Dir(link)] = true
			}
			if at := way[len(way)-1]; !wanted[at] {
				of.folders[at] = true
			}
		}
	}
	for folder := range of.folders {
		wanted[folder] = true
	}
	select { // the latest one counts
	case <-w.interest:
	default:
	}
	w.interest <- of
	var faults []error
	watched := w.notify.WatchList()
	for _, folder := range slices.Sorted(maps.Keys(wanted)) {
		if slices.Contains(watched, folder) {
			continue
		}
		if err := w.notify.Add(folder); err != nil && !errors.Is(err, os.ErrNotExist) {
			faults = append(faults, fmt.Errorf("watch %s: %w", folder, err))
		}
	}
	for _, folder := range watched {
		if !wanted[folder] {
			_ = w.notify.Remove(folder) // it may be gone by itself
		}
	}
	return errors.Join(faults...)
}

// maxLinks ends a way that leads in circles.
const maxLinks = 40

// ways finds ways, and remembers those to folders.
type ways map[string][]string

// to is the way to a file: each symbolic link on it, and where it ends, whether
// that is there or not.
func (w ways) to(file string) []string {
	path, err := filepath.Abs(file)
	if err != nil {
		path = file // nothing is known of where it is
	}
	return w.from(path, maxLinks)
}

func (w ways) from(path string, links int) (way []string) {
	folder, name := filepath.Split(path)
	folder = filepath.Clean(folder)
	if folder == path || links == 0 {
		return []string{path}
	}
	known, ok := w[folder]
	if !ok {
		known = w.from(folder, links-1)
		w[folder] = known
	}
	way = slices.Clone(known[:len(known)-1])
	path = filepath.Join(known[len(known)-1], name)
	target, err := os.Readlink(path)
	if err != nil {
		return append(way, path)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	way = append(way, path)
	return append(way, w.from(target, links-1)...)
}
