package simulation

import (
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
)

// jobsFile is where the gateway keeps its jobs.
func (w *world) jobsFile() string {
	if _, ok := w.system.(*builtIn); ok {
		return desk.DatabaseFile
	}
	return "keep.db"
}

// logJobs has the database log each step of a job: its outline before and after, as testdata/steps.txt of
// gateway/webhook has them.
func (w *world) logJobs() {
	outline := func(of string) string {
		all := of + ".state"
		for _, part := range [][2]string{{"Failure", ""}, {"Result.File", ""}, {"Lease", "0001-01-01T00:00:00Z"}, {"NextTry", "0001-01-01T00:00:00Z"}, {"Failing", "0001-01-01T00:00:00Z"}} {
			name := part[0][strings.LastIndexByte(part[0], '.')+1:]
			all += fmt.Sprintf(" || iif(coalesce(json_extract(%s.document, '$.%s'), '%s') <> '%s', ' %s', '')", of, part[0], part[1], part[1], name)
		}
		return all
	}
	require.NoError(w.t, execute(w, w.jobsFile(), `BEGIN IMMEDIATE; -- of half of it, tried again, the first half would be there already
CREATE TABLE job_step (step TEXT PRIMARY KEY, job TEXT);
CREATE TRIGGER job_begun AFTER INSERT ON callback_job BEGIN INSERT OR IGNORE INTO job_step VALUES (`+outline("NEW")+`, NEW.id); END;
CREATE TRIGGER job_stepped AFTER UPDATE OF document ON callback_job BEGIN INSERT OR IGNORE INTO job_step VALUES (`+outline("OLD")+` || ' > ' || `+outline("NEW")+`, NEW.id); END;
COMMIT;`))
}

// judgeJobs wants each step to be one that the search of all courses of a job knows, whatever was killed.
func (w *world) judgeJobs() {
	file, err := os.ReadFile("../../../../gateway/webhook/testdata/steps.txt")
	require.NoError(w.t, err)
	known := map[string]bool{"accepted": true, "accepted Lease": true}
	for step := range strings.Lines(string(file)) {
		known[strings.TrimSpace(step)] = true
	}
	seen := 0
	require.NoError(w.t, again(w, w.jobsFile(), func(db *sql.DB) error {
		rows, err := db.QueryContext(w.t.Context(), "SELECT step, job FROM job_step")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for seen = 0; rows.Next(); seen++ {
			var step, job string
			if err := rows.Scan(&step, &job); err != nil {
				return err
			}
			if !known[step] {
				w.fault("the job %s went from %s, which no course of a job does", job, step)
			}
		}
		return rows.Err()
	}))
	if seen < 8 {
		w.fault("the log of jobs has %d steps", seen)
	}
	w.tell("jobs made %d kinds of steps", seen)
}
