package auth

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

var _ Mailer = (*FolderMailer)(nil)

// FolderMailer writes mails to a folder, one .eml file each, where no mail
// server is configured. A file appears complete or not at all and is readable by
// its owner only: it may hold a reset link.
type FolderMailer struct {
	letterhead
	folder string
}

// NewFolderMailer returns a mailer for this folder, which it makes where it is
// not there yet.
func NewFolderMailer(folder, from string, clock func() time.Time, random io.Reader) (*FolderMailer, error) {
	m := &FolderMailer{letterhead: letterhead{from: from, clock: clock, random: random}, folder: folder}
	if _, err := m.compose(Mail{To: from}); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("auth: mail folder: %w", err)
	}
	return m, nil
}

// Send implements Mailer.
func (m *FolderMailer) Send(_ context.Context, letter Mail) error {
	msg, err := m.compose(letter)
	if err != nil {
		return err
	}
	id, err := randomHex(m.random)
	if err != nil {
		return err
	}
	// Names sort by time; the random part separates mails of one instant.
	name := filepath.Join(m.folder, m.clock().UTC().Format("20060102T150405.000Z")+"-"+id+".eml")
	if err := writeWhole(name, msg); err != nil {
		return fmt.Errorf("auth: write mail: %w", err)
	}
	return nil
}

// writeWhole writes a new file by way of a temporary one in the same folder.
func writeWhole(name string, content io.WriterTo) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".mail-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = content.WriteTo(file)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
