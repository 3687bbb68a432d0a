package check

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/remote/foreigntest"
)

// TestForeignJSONAPI: a service that keeps to JSON:API, and that nobody here wrote, is walked by
// links, and written, with references and errors. It filters a page after it has cut it off.
func TestForeignJSONAPI(t *testing.T) {
	text, err := os.ReadFile("testdata/jsonapi.yaml")
	require.NoError(t, err)
	driver, o, problems := inFront(t, string(text), map[string]string{"SERVICE_URL": foreigntest.JSONAPI(t).URL})
	require.Empty(t, problems)
	o.Other, o.Write = auth.Client{ID: 2, Name: "zuid"}, auth.Client{ID: 1, Name: "noord"}
	report, err := HTTP(t.Context(), driver, o.Write, o)
	require.NoError(t, err)
	require.Zero(t, report.Count(Error)+report.Count(Warning), "%s", words(t, report))
}
