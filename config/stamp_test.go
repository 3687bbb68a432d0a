package config

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLooksYoung: a file that was written within a tick of the file system's clock looks
// as it did. It is read, until it is old enough.
func TestLooksYoung(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	at, err := look(path, now)
	if err != nil || at.settled {
		t.Fatalf("%+v, %v", at, err)
	}
	var l looks
	at.text = sha256.Sum256([]byte("old"))
	l.note(path, at)
	if l.changed(path, false, now) || !l.changed(path, true, now) {
		t.Error("it looks as it did, and says something else")
	}
	at.text = sha256.Sum256([]byte("new"))
	l.note(path, at)
	now = now.Add(time.Hour)
	if l.changed(path, true, now) {
		t.Error("nothing has changed")
	}
	if last, _ := l.last(path); !last.settled || last.text != at.text {
		t.Errorf("it would be read again and again: %+v", last)
	}
	at.text, at.settled = stamp{}.text, true // it could not be read, for want of a descriptor
	l.note(path, at)
	if l.changed(path, false, now) || !l.changed(path, true, now) {
		t.Error("it can be read by now")
	}
}
