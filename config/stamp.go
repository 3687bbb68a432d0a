package config

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// stamp holds the attributes of a file at some moment. They show a change without reading
// the file.
type stamp struct {
	info    fs.FileInfo // nil if the file could not be examined
	settled bool        // the last change is so old that a further one gets another time
	text    [32]byte    // SHA-256 of the contents; zero if it was not read
}

// settling is how old the last change of a file must be so that its times reliably show the
// next change: clocks of file systems are coarse.
const settling = 2 * time.Second

// look examines a file without reading it.
func look(path string, now time.Time) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = &fs.PathError{Op: "open", Path: path, Err: failed.Err} // clearer to users than "stat"
		}
		return stamp{}, err
	}
	return stamp{info: info, settled: now.Sub(info.ModTime()) > settling && now.Sub(changeTime(info)) > settling}, nil
}

// sameAs reports whether no attribute of the file has changed. It compares the change time, which
// nobody can set, as well as the modification time, which cp -p and rsync -t set to that of
// another file.
func (s stamp) sameAs(other stamp) bool {
	switch {
	case s.info == nil || other.info == nil:
		return s.info == nil && other.info == nil
	case !os.SameFile(s.info, other.info):
		return false
	case !s.info.Mode().IsRegular(): // pipes, and folders that a pattern matches, are not read again
		return true
	default:
		return s.info.Size() == other.info.Size() && s.info.ModTime().Equal(other.info.ModTime()) && changeTime(s.info).Equal(changeTime(other.info))
	}
}

// looks holds the last stamps of files. The zero value has none.
type looks struct {
	mu sync.Mutex
	at map[string]stamp
}

func (l *looks) note(path string, at stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = make(map[string]stamp)
	}
	l.at[path] = at
}

// changed reports whether a file differs from its last stamp. With reread it also reads a file whose
// last change is too recent for its times to be reliable.
func (l *looks) changed(path string, reread bool, now time.Time) bool {
	l.mu.Lock()
	was, known := l.at[path]
	l.mu.Unlock()
	is, _ := look(path, now) // an error is a state that is compared as well
	if !known || !was.sameAs(is) {
		return true
	}
	if is.info == nil || !is.info.Mode().IsRegular() {
		return false
	}
	unread := was.text == stamp{}.text // the cause may pass, such as too many open files
	if !reread || was.settled && !unread {
		return false
	}
	if src, err := readFile(path); err == nil {
		is.text = sha256.Sum256(src)
	}
	if is.text != was.text {
		return true
	}
	l.note(path, is) // the file may have settled
	return false
}
