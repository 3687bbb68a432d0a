package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/rig"
)

// TestWhyRecord: who wrote a record, alone or among several, is told by its primary ID, also once it
// is gone.
func TestWhyRecord(t *testing.T) {
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	token := d.Login(rig.FullKey, "demo")
	id := d.Create(token, "contact", `{"kind":"person","name":"Jansen"}`)
	path := fmt.Sprint("/contact/", id)
	require.Equal(t, 200, d.Call("GET", path, token, "").Status)
	require.Equal(t, 200, d.Call("PUT", path, token, `{"name":"De Wit"}`).Status)
	bulk := d.Call("PUT", "/contact/bulk", token, fmt.Sprintf(`{"records":[{"id":%d,"note":"a"},{"id":%d,"colour":1},{"id":2000000000,"note":"b"}]}`, id, id))
	require.Equal(t, 200, bulk.Status, "%s", bulk.Body)
	require.Equal(t, 403, d.Call("PUT", path, token, `{"colour":1}`).Status)
	require.Equal(t, 200, d.Call("DELETE", path, token, "").Status)
	gone := d.Call("GET", path, token, "")
	require.Equal(t, 404, gone.Status)
	var failure struct {
		RequestID string `json:"request_id"`
	}
	require.NoError(t, json.Unmarshal(gone.Body, &failure))
	require.Equal(t, accesslog.Line{Record: int32(id), User: "demo"}, accesslog.Line{Record: accessed(t, d, failure.RequestID).Record, User: accessed(t, d, failure.RequestID).User})
	file := filepath.Join(t.TempDir(), "access.log")
	require.NoError(t, os.WriteFile(file, []byte(d.Log.String()), 0o600))

	code, out, problems := cli("", "why", "--record", fmt.Sprint("contact/", id), file)
	require.Zero(t, code, problems)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 6, out)
	for i, want := range []string{"POST /contact 201", "PUT /contact/{id} 200", "PUT /contact/bulk 200", "DELETE /contact/{id} 200"} {
		require.Contains(t, strings.Join(strings.Fields(lines[i+1]), " "), want+" demo Demo Garage full 127.0.0.1 ")
	}
	require.Equal(t, fmt.Sprintf("Beside that, 3 requests of contact/%d read it or were refused.", id), lines[5])

	written := out
	var halves [2]string // of two gateways, the later first, and a file that is given twice
	for i, line := range slices.Collect(strings.Lines(d.Log.String())) {
		halves[i%2] += line
	}
	var files []string
	for i, half := range halves {
		files = append(files, filepath.Join(t.TempDir(), fmt.Sprint(i)))
		require.NoError(t, os.WriteFile(files[i], []byte(half), 0o600))
	}
	code, out, problems = cli("", "why", "--record", fmt.Sprint("contact/", id), files[1], files[0], files[1])
	require.Zero(t, code, problems)
	require.Equal(t, strings.Split(written, "\n")[:5], strings.Split(out, "\n")[:5])

	code, out, problems = cli("", "why", "--record", fmt.Sprint("contact/", id), "--limit", "30", "--at", "2020-01-01 02:13", file)
	require.Equal(t, 1, code, out)
	require.Contains(t, problems, fmt.Sprintf("these logs have no request about contact/%d", id))
}
