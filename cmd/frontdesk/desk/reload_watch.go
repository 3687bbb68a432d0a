package desk

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"frontdesk/config"

	"github.com/fsnotify/fsnotify"
)

// fileWatch reports that files may have changed. It watches their folders, and those of every
// symbolic link on the way to them: most editors replace a file instead of writing it, a mounted
// ConfigMap is replaced by a link, and a deployment moves a whole folder. Changes without an event
// are found by reloader.look.
type fileWatch struct {
	notify *fsnotify.Watcher
	out    chan struct{}
	stop   chan struct{}
	done   chan struct{}

	interest chan interest          // the current one, for the goroutine that sorts events
	at       map[string]fs.FileInfo // what was at each path when it was watched
}

// interest selects the events that matter in the watched folders.
type interest struct {
	names   map[string]bool // files, folders of them, and links on the way
	folders map[string]bool // where everything counts: those of included files
	mixed   map[string]bool // where only YAML files count: the folder of the first file, in which there may be others
}

func newFileWatch() (*fileWatch, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w (serve --no-watch does without)", err)
	}
	w := &fileWatch{
		notify: notify, out: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), interest: make(chan interest, 1),
		at: map[string]fs.FileInfo{},
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

// sort passes on the events that matter: the folder may hold a busy database as well.
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
	name := filepath.Clean(e.Name) // in the root it begins with two slashes
	folder, kind := filepath.Dir(name), filepath.Ext(name)
	return i.names[name] || i.folders[folder] || i.mixed[folder] && (kind == ".yaml" || kind == ".yml")
}

// follow watches these files from now on, the first of which is the main file, and everything in
// the further folders, even if they do not exist. It reports whether any of them was not watched
// before.
func (w *fileWatch) follow(files, folders []string) (more bool, err error) {
	of, wanted := interestIn(files, folders)
	select { // the latest one counts
	case <-w.interest:
	default:
	}
	w.interest <- of
	for _, folder := range w.notify.WatchList() {
		info, err := os.Stat(folder)
		if !wanted[folder] || err != nil || !os.SameFile(w.at[folder], info) {
			_ = w.notify.Remove(folder) // it may be gone by itself
			delete(w.at, folder)
		}
	}
	var faults []error
	watched := w.notify.WatchList()
	for _, folder := range slices.Sorted(maps.Keys(wanted)) {
		if slices.Contains(watched, folder) {
			continue
		}
		info, err := os.Stat(folder) // before it is watched: what takes its place meanwhile is another the next time
		if err == nil {
			err = w.notify.Add(folder)
		}
		switch {
		case err == nil:
			w.at[folder], more = info, true
		case !errors.Is(err, os.ErrNotExist):
			faults = append(faults, fmt.Errorf("watch %s: %w", folder, err))
		}
	}
	return more, errors.Join(faults...)
}

// interestIn returns which events matter for these files and folders, and the folders to watch:
// instead of one that does not exist, the nearest existing one above it.
func interestIn(files, folders []string) (of interest, wanted map[string]bool) {
	of = interest{names: map[string]bool{}, folders: map[string]bool{}, mixed: map[string]bool{}}
	wanted = map[string]bool{}
	ways := ways{}
	note := func(path string) {
		of.names[path] = true
		wanted[filepath.Dir(path)] = true
	}
	for _, file := range files[:1] {
		for _, name := range ways.to(file) {
			note(name)
			of.mixed[filepath.Dir(name)] = true
		}
	}
	for _, folder := range folders {
		way := ways.to(folder)
		for _, link := range way[:len(way)-1] {
			note(link)
		}
		at := way[len(way)-1]
		of.names[at] = true
		if config.IsFolder(at) && !of.mixed[at] {
			of.folders[at] = true
		}
		for ; !config.IsFolder(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
			of.names[at] = true // it may come to be
		}
		wanted[at] = true
	}
	for _, file := range files[1:] {
		for _, name := range ways.to(file) {
			note(name)
		}
	}
	return of, wanted
}

// maxLinks ends a way that leads in circles.
const maxLinks = 40

// ways finds ways, and remembers those to folders.
type ways map[string][]string

// to returns the path to a file: each symbolic link on it, and its end, whether or not that
// exists.
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
