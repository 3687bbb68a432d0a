package legacy

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping/sheet"
)

// TestSoakScan reads a million records again and again, and finds what has gone, in bounded
// memory.
func TestSoakScan(t *testing.T) {
	if !sqltest.Soak() {
		t.Skip("a soak test: set FRONTDESK_SOAK=1")
	}
	x, _, _ := onTables(t, "sqlite", fmt.Sprintf(followedSheet, "sqlite"), followedTables...)
	x.exec(`INSERT INTO f_rel (nr, adm, naam) WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1000009) SELECT i, 1, 'Relatie ' || i FROM n`)
	x.sheet.Resource("contact").Changes = sheet.Changes{By: sheet.ByScan, Every: 10 * time.Millisecond, Pause: time.Nanosecond, Page: 500}
	own := ownDatabase(t, "sqlite")
	before := resident(t)
	f := x.followed(t, own(), x.sheet)
	began, cursor := time.Now(), ""
	contact := x.model.Resource("contact")
	most := before
	look := func() {
		most = max(most, resident(t))
	}
	require.Eventually(t, func() bool {
		look()
		page, err := x.front.Changes(t.Context(), beginning(one, contact))
		cursor = page.Cursor
		return err == nil
	}, 30*time.Minute, 100*time.Millisecond)
	t.Logf("read for the first time in %s", time.Since(began).Round(time.Second))
	x.exec("DELETE FROM f_rel WHERE nr = 777777")
	began = time.Now()
	require.Eventually(t, func() bool {
		look()
		return len(x.changed(t, one, cursor, contact)) > 0
	}, 30*time.Minute, 100*time.Millisecond)
	require.Equal(t, []string{"deleted contact 777777"}, x.changed(t, one, cursor, contact))
	t.Logf("a deletion was found after %s; resident: +%d MiB", time.Since(began).Round(time.Second), (most-before)>>20)
	require.Less(t, most-before, int64(64<<20))
	require.NoError(t, f.Close())
}

// resident is how much memory the process has.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	var size, pages int64
	_, err = fmt.Sscan(strings.TrimSpace(string(text)), &size, &pages)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}
