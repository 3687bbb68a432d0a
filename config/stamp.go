package config

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// stamp is the attributes of a file when it was looked at; they show a change without
// reading the file.
type stamp struct {
	info    fs.FileInfo // nil: it could not be looked at
	settled bool        // it was old enough: a further change has another time
	text    [32]byte    // SHA-256 of what is written; zero where it was not read
}

// settling is how old the last change of a file must be before its times reliably show
// the next change: clocks of file systems are coarse.
const settling = 2 * time.Second

// look looks at a file, and does not read it.
func look(path string, now time.Time) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = &fs.PathError{Op: "open", Path: path, Err: failed.Err} // as people say it
		}
		return stamp{}, err
	}
	return stamp{info: info, settled: now.Sub(info.ModTime()) > settling && now.Sub(changeTime(info)) > settling}, nil
}

// sameAs reports whether no attribute of the file has changed. The change time counts as
// well as the modification time: cp -p and rsync -t set the latter to that of another
// file, and nobody can set the former.
func (s stamp) sameAs(other stamp) bool {
	switch {
	case s.info == nil || other.info == nil:
		return s.info == nil && other.info == nil
	case !os.SameFile(s.info, other.info):
		return false
	case !s.info.Mode().IsRegular(): // a pipe, or a folder that a pattern matches: what is in it is not read again
		return true
	default:
		return s.info.Size() == other.info.Size() && s.info.ModTime().Equal(other.info.ModTime()) && changeTime(s.info).Equal(changeTime(other.info))
	}
}

// looks are what files were like when they were last looked at. Its zero value has none.
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

// changed looks at a file once more. With reread it also reads a file that is too young
// for its times to be reliable.
func (l *looks) changed(path string, reread bool, now time.Time) bool {
	l.mu.Lock()
	was, known := l.at[path]
	l.mu.Unlock()
	is, _ := look(path, now) // that it cannot be looked at is a state as well
	if !known || !was.sameAs(is) {
		return true
	}
	if is.info == nil || !is.info.Mode().IsRegular() {
		return false
	}
	unread := was.text == stamp{}.text // which may pass, as a want of descriptors does
	if !reread || was.settled && !unread {
		return false
	}
	if src, err := readFile(path); err == nil {
		is.text = sha256.Sum256(src)
	}
	if is.text != was.text {
		return true
	}
	l.note(path, is) // which may have settled
	return false
}
