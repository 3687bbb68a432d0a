// Package foreigntest starts administrations that nobody here wrote, on the PostgreSQL and
// the MariaDB of the tests, as Debian packs them. Their databases are made by their own
// programs, filled through these, and changed through them while a test is under way; of one
// that has windows alone, by its own scripts, and by statements as it makes them. It is not
// for programs.
package foreigntest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord/sqltest"
)

// System is an administration, and a worker who uses its own programs.
type System struct {
	DSN   string
	Sheet string // the file
	// Weigh is what its database compares and sorts texts by; nil for their letters.
	Weigh  func(text string) string
	office worker
	rows   map[string]query
	ask    func(ctx context.Context, sql string) ([]found, error) // of the oracle
	seen   map[string]drivertest.Row                              // parsed rows, by the text of the oracle's answer
}

// worker has a system do something. What the system refuses is a Refused.
type worker interface {
	do(what string, arguments map[string]any, answer any) error
}

// files is the folder of a system's files: its sheet, and the program that works in it, if any.
func files(system string) string {
	return sqltest.Repository("backend", "legacy", "testdata", system)
}

// folder is what a package has under /usr/share, be it installed or only unpacked; inside is
// something that it has there.
func folder(t testing.TB, part, inside string) string {
	t.Helper()
	sqltest.Takes(t, part)
	for _, under := range []string{"/usr/share", "/usr/local/share"} {
		if _, err := os.Stat(filepath.Join(under, part, inside)); err == nil {
			return filepath.Join(under, part)
		}
	}
	sqltest.Missing(t, part, "it is not installed")
	return ""
}

// office is a program that works in a system: it reads a line of JSON for each task, and
// answers each with a line.
type office struct {
	mu       sync.Mutex
	requests io.WriteCloser
	answers  *bufio.Reader
}

// open starts the program. It ends with the test.
func open(cmd *exec.Cmd) (o *office, end func() error, err error) {
	o = &office{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if o.requests, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	o.answers = bufio.NewReader(out)
	var stderr tail
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return o, func() error {
		_ = o.requests.Close()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%w\n%s", err, stderr.text)
		}
		return nil
	}, nil
}

// tail keeps the end of a program's output.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-4096):]
	return len(p), nil
}

// do implements worker.
func (o *office) do(what string, arguments map[string]any, answer any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	ask, err := json.Marshal([]any{what, arguments})
	if err != nil {
		return err
	}
	if _, err := o.requests.Write(append(ask, '\n')); err != nil {
		return err
	}
	line, err := o.answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s %v: the program ended: %w", what, arguments, err)
	}
	var refusal struct{ Error string }
	if json.Unmarshal(line, &refusal) == nil && refusal.Error != "" {
		return Refused(refusal.Error)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(line, answer)
}

// Refused is a system's message when it refuses a task.
type Refused string

func (r Refused) Error() string { return string(r) }

// Do has the system's own programs do a task, which they may refuse.
func (s *System) Do(t require.TestingT, what string, arguments map[string]any) (done bool) {
	err := s.office.do(what, arguments, nil)
	if _, refused := err.(Refused); !refused {
		require.NoError(t, err, "%s %v", what, arguments)
	}
	return err == nil
}

// Ask has them answer something.
func (s *System) Ask(t require.TestingT, what string, arguments map[string]any, answer any) {
	require.NoError(t, s.office.do(what, arguments, answer), "%s %v", what, arguments)
}

// look connects the oracle, on PostgreSQL.
func (s *System) look(t testing.TB) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), s.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	s.ask = func(ctx context.Context, sql string) ([]found, error) {
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
			err = row.Scan(&f.key, &f.owner, &f.hidden, &f.fields, &f.columns)
			f.parsed = func() (columns map[string]any, err error) { return columns, json.Unmarshal(f.columns, &columns) }
			return f, err
		})
	}
}
