package config

import "slices"

// Changed tells whether the files have changed since Load last read them, whether or not
// that Load succeeded. It compares file attributes, reads the files that are too young
// for their times to be reliable, and parses none.
func (l *Loader) Changed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed(true)
}

// changed is Changed for a caller that holds the lock.
func (l *Loader) changed(reread bool) bool {
	now := l.known.Now()
	if l.looked.changed(l.path, reread, now) {
		return true
	}
	if !l.reached { // what is included was not looked at, since the main file cannot be used
		return false
	}
	files, _ := l.included(l.main)
	if !slices.EqualFunc(files, l.asked, func(a, b include) bool { return a.path == b.path }) {
		return true
	}
	return slices.ContainsFunc(files, func(f include) bool { return l.looked.changed(f.path, reread, now) })
}
