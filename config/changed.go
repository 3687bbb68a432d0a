package config

import "slices"

// Changed tells whether the files are others, or say something else, than when Load last
// read them, whatever came of that. It looks at files, reads those that are too young for
// their times to tell, and parses none.
func (l *Loader) Changed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed(true)
}

// changed is Changed for one who has the lock.
func (l *Loader) changed(reread bool) bool {
	now := l.known.Now()
	if l.looked.changed(l.path, reread, now) {
		return true
	}
	if !l.reached { // what is included was not looked at, since the main file cannot be used
		return false
	}
	files, _ := included(l.main)
	if !slices.EqualFunc(files, l.asked, func(a, b include) bool { return a.path == b.path }) {
		return true
	}
	return slices.ContainsFunc(files, func(f include) bool { return l.looked.changed(f.path, reread, now) })
}
