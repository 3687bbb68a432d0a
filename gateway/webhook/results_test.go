package webhook_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

// onResults runs a test on every place that results are kept in, which is empty.
func onResults(t *testing.T, f func(t *testing.T, r webhook.Results)) {
	t.Run("folder", func(t *testing.T) { f(t, openFiles(t, t.TempDir())) })
	t.Run("postgres", func(t *testing.T) {
		r, err := postgresEngine(t).open(t).NewResults()
		require.NoError(t, err)
		f(t, r)
	})
}

func write(t *testing.T, r webhook.Results, name string, content []byte) {
	t.Helper()
	d, err := r.Create(t.Context(), name)
	require.NoError(t, err)
	defer d.Discard()
	for piece := range bytes.Lines(content) { // of every length
		n, err := d.Write(piece)
		require.NoError(t, err)
		require.Len(t, piece, n)
	}
	require.NoError(t, d.Keep())
}

func random(size int) []byte {
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	return content
}

func TestResultsAreReadAtAnyPlace(t *testing.T) {
	onResults(t, func(t *testing.T, r webhook.Results) {
		for _, size := range []int{0, 1, 1000, 256 << 10, 700_001} {
			content := random(size)
			write(t, r, "job.1", content)
			file, err := r.Open(t.Context(), "job.1")
			require.NoError(t, err)
			got, err := io.ReadAll(io.NewSectionReader(file, 0, int64(size)))
			require.NoError(t, err)
			require.True(t, bytes.Equal(content, got), size)
			for range 50 {
				from := rand.IntN(size + 1)
				to := from + rand.IntN(size-from+1)
				part := make([]byte, to-from)
				n, err := file.ReadAt(part, int64(from))
				require.NoError(t, err)
				require.True(t, bytes.Equal(content[from:to], part[:n]), "%d to %d of %d", from, to, size)
			}
			n, err := file.ReadAt(make([]byte, 2), max(int64(size)-1, 0))
			if size > 0 {
				require.Equal(t, 1, n)
			}
			require.Error(t, err, "past the end")
			require.NoError(t, file.Close())
			names, err := r.Names(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"job.1"}, names, "the one before gave way")
		}
	})
}

func TestResultsThatAreDropped(t *testing.T) {
	onResults(t, func(t *testing.T, r webhook.Results) {
		write(t, r, "one.1", random(1000))
		d, err := r.Create(t.Context(), "two.1")
		require.NoError(t, err)
		_, err = d.Write(random(700_000))
		require.NoError(t, err)
		d.Discard()
		names, err := r.Names(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"one.1"}, names)
		require.NoError(t, r.Remove(t.Context(), "one.1"))
		require.NoError(t, r.Remove(t.Context(), "one.1"), "what is not there is no error")
		_, err = r.Open(t.Context(), "one.1")
		require.Error(t, err)
	})
}

// TestResultThatAnotherRemoves is not written on.
func TestResultThatAnotherRemoves(t *testing.T) {
	e := postgresEngine(t)
	one, err := e.open(t).NewResults()
	require.NoError(t, err)
	other, err := e.open(t).NewResults()
	require.NoError(t, err)
	d, err := one.Create(t.Context(), "job.2")
	require.NoError(t, err)
	_, err = d.Write(random(300_000))
	require.NoError(t, err)
	require.NoError(t, other.Remove(t.Context(), "job.2"), "the job was taken over")
	_, err = d.Write(random(300_000))
	require.ErrorContains(t, err, "removed while it was written")
}

// TestFolderOfResults keeps what is no result, and takes no folder of another.
func TestFolderOfResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	require.NoError(t, os.Mkdir(folder, 0o700))
	for _, name := range []string{"precious.txt", "their.part", "job.1", "job.2.77.part"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	files, err := webhook.OpenFiles(folder)
	require.NoError(t, err)
	names, err := files.Names(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"job.1"}, names)
	left, err := filepath.Glob(folder + "/*")
	require.NoError(t, err)
	require.Len(t, left, 3, "but what was being written")
	require.NoError(t, os.Symlink(folder, folder+"-2"))
	_, err = webhook.OpenFiles(folder + "-2")
	require.ErrorContains(t, err, "is a link, expected a folder")
}
