package pages

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestBrowserNight has everything go wrong that wakes people, and looks whether the first
// screen of the first page says what it is, on a desktop and on a phone, before anybody scrolls
// or clicks. What the pages say without a browser, TestNight holds in every run.
func TestBrowserNight(t *testing.T) {
	if !sqltest.Soak() && os.Getenv("FRONTDESK_SCREENSHOTS") == "" {
		t.Skip("pictures: make pages makes them")
	}
	b, folder := startBrowser(t), t.TempDir()
	rig.TinyDisk(t, folder, "16m")
	n := rig.StartNight(t, folder)
	p := b.open(t, "http://"+n.Ops)
	for i, step := range append(n.Steps(), n.DiskFills()) {
		step.Play()
		notice, _ := n.NightNotice(step)
		p.visit("/")
		for _, width := range []int64{1280, 390} {
			p.look(width, "light")
			bottom := p.eval(fmt.Sprintf(`[...document.querySelectorAll(".notices a")].find((a) => a.textContent.startsWith(%q)).getBoundingClientRect().bottom`, step.Shows))
			require.Less(t, bottom, 800.0, "%s at %d pixels is below the first screen", step.Name, width)
			p.shot(fmt.Sprintf("night-%d-%s-%d", i+1, step.Name, width))
		}
		p.judge("night-"+step.Name, look{1280, "light"}, look{390, "dark"})
		p.visit(notice.Page)
		for _, width := range []int64{1280, 390} {
			p.look(width, "light")
			p.shot(fmt.Sprintf("night-%d-%s-then-%d", i+1, step.Name, width))
		}
		if step.Mend != nil {
			step.Mend()
		}
	}
}
