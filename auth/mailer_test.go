package auth_test

import (
	"crypto/rand"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
)

func TestFolderMailer(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data", "mail")
	clock := authtest.NewClock()
	m, err := auth.NewFolderMailer(folder, "Example <noreply@example.nl>", clock.Now, rand.Reader)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			link := "https://api.example.nl/" + strings.Repeat("x", 90) + "?reset=abc"
			if err := m.Send(t.Context(), auth.Mail{To: "anna@example.nl", Subject: "Één onderwerp", Text: link + "\n"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 10)
	for _, entry := range entries {
		require.Equal(t, ".eml", filepath.Ext(entry.Name()))
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		require.Contains(t, string(text), "x?reset=abc\r\n", "the link is in one piece")
		letter, err := mail.ReadMessage(strings.NewReader(string(text)))
		require.NoError(t, err)
		require.Equal(t, "<anna@example.nl>", letter.Header.Get("To"))
		require.Equal(t, `"Example" <noreply@example.nl>`, letter.Header.Get("From"))
		require.Regexp(t, `^<[0-9a-f]{32}@example\.nl>$`, letter.Header.Get("Message-Id"))
		date, err := letter.Header.Date()
		require.NoError(t, err)
		require.Equal(t, clock.Now().Unix(), date.Unix())
	}
}

func TestFolderMailerRefuses(t *testing.T) {
	folder := t.TempDir()
	_, err := auth.NewFolderMailer(folder, "nobody", authtest.NewClock().Now, rand.Reader)
	require.Error(t, err)
	m, err := auth.NewFolderMailer(folder, "noreply@example.nl", authtest.NewClock().Now, rand.Reader)
	require.NoError(t, err)
	require.Error(t, m.Send(t.Context(), auth.Mail{To: "anna@example.nl\r\nBcc: eve@example.nl"}))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestNewSMTPMailerJudgesItsConfig(t *testing.T) {
	tests := []struct {
		url, from string
		good      bool
	}{
		{"smtp://user:secret@mail.example.nl:587", "noreply@example.nl", true},
		{"smtps://mail.example.nl", "Example <noreply@example.nl>", true},
		{"smtp://localhost", "noreply@example.nl", true},
		{"smtp://[::1]:2525/", "noreply@example.nl", true},
		{"smtp://mail.example.nl", "noreply", false},
		{"http://mail.example.nl", "noreply@example.nl", false},
		{"smtp://user:secret@", "noreply@example.nl", false},
		{"smtp://user:secret@mail.example.nl:99999", "noreply@example.nl", false},
		{"smtp://user:secret@mail.example.nl?tls=no", "noreply@example.nl", false},
		{"smtp://user:sec%ret@mail.example.nl", "noreply@example.nl", false},
	}
	for _, test := range tests {
		_, err := auth.NewSMTPMailer(auth.SMTPConfig{
			URL: test.url, From: test.from, Clock: authtest.NewClock().Now, Random: rand.Reader,
		})
		require.Equal(t, test.good, err == nil, "%s: %v", test.url, err)
		if err != nil {
			require.NotContains(t, err.Error(), "sec")
		}
	}
}
