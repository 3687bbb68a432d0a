// Package foreigntest starts services that nobody here wrote, which .ci/install-foreign
// installs, fills them with the records of two tenants, and asks them without frontdesk.
package foreigntest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
)

// System is a service that runs for a test.
type System struct {
	URL   string
	Token string // of a user who may do everything; "" if the service needs none
	http  *http.Client
}

// Object is a JSON object.
type Object = map[string]any

// installed is the path of what .ci/install-foreign installs; the test is skipped where
// that was not done.
func installed(t testing.TB, name string) string {
	t.Helper()
	sqltest.Takes(t, "foreign")
	path := sqltest.Repository(".ci", "foreign", name)
	if _, err := os.Stat(path); err != nil {
		sqltest.Missing(t, "foreign", "what .ci/install-foreign installs is not there")
	}
	return path
}

// start runs a program that serves on the port that its arguments name, and waits until
// it answers at path.
func start(t testing.TB, path string, command func(port string) *exec.Cmd) *System {
	t.Helper()
	free, err := sqltest.FreePort()
	require.NoError(t, err)
	port := strconv.Itoa(free)
	cmd := command(port)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	s := &System{URL: "http://127.0.0.1:" + port, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
	t.Cleanup(func() {
		s.http.CloseIdleConnections()
		_ = cmd.Process.Kill()
		<-ended
	})
	await.True(t, func() bool {
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", cmd.Path, output.String())
		default:
		}
		_, err := s.Try(http.MethodGet, path, nil)
		return err == nil
	}, "%s to answer", cmd.Path)
	return s
}

// Try asks the service for something, and returns the JSON of its answer, nil where that
// is empty. An answer other than 2xx is an error.
func (s *System) Try(method, path string, body any) (any, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, s.URL+path, sent)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", s.Token)
	answer, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	var found any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&found)
	return found, err
}

// Rows are the objects of a list, at path in the answer; "" for the answer itself.
func (s *System) Rows(path, at string) ([]Object, error) {
	found, err := s.Try(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	if at != "" {
		found = found.(Object)[at]
	}
	var rows []Object
	for _, row := range found.([]any) {
		rows = append(rows, row.(Object))
	}
	return rows, nil
}

// Make makes a record and returns it.
func (s *System) Make(t testing.TB, path string, body Object) Object {
	t.Helper()
	found, err := s.Try(http.MethodPost, path, body)
	require.NoError(t, err)
	made, _ := found.(Object)
	return made
}

// names are what the records of the services are called: what other languages might take
// for syntax among them.
var names = []string{"Oil filter", "O'Neil", `Brake "pad"`, "50% off", "a,b", "x) || (y", `C:\`, "Ω é", "a&b=c", "null", "two  words", "N*"}

// Name is the name of the i-th record.
func Name(i int) string { return names[i%len(names)] }
