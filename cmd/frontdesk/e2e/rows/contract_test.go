package rows

import (
	"path/filepath"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/play"
)

// contract is what the contract says beyond its rows and testdata/contract.txt. All of it is
// asked of one desk, in this order.
var contract = []struct {
	name string
	test func(t *testing.T, p *rig.Practice)
}{
	{"request id", contractRequestID},
	{"paths", contractPaths},
	{"unreadable", contractUnreadable},
	{"other methods", contractMethods},
	{"token header", contractTokenHeader},
	{"what an update changes", contractUpdate},
	{"every page", contractPaging},
	{"every sort", contractSort},
	{"lines", contractLines},
	{"totals", contractTotals},
	{"changes of records", contractChanges},
	{"changes, whose they are", contractChangesOfOthers},
	{"digest", contractDigest},
	{"agents, the protocol", contractAgentProtocol},
	{"agents, reading", contractAgentReads},
	{"agents, writing", contractAgentWrites},
	{"whole model", contractModel},
	{"ops", contractOps},
}

// TestContract holds a desk to the contract.
func TestContract(t *testing.T) {
	t.Parallel()
	common, sections := play.Read(t, filepath.Join("testdata", "contract.txt"))
	onPractice(t, func(t *testing.T, p *rig.Practice) {
		for _, section := range sections {
			t.Run(section.Name, func(t *testing.T) {
				defer p.Faults.None()
				s := play.New(p.In(t))
				s.Run(common)
				s.Run(section.Lines)
			})
		}
		for _, section := range contract {
			t.Run(section.name, func(t *testing.T) {
				defer p.Faults.None()
				section.test(t, p.In(t))
			})
		}
	})
}

// onPractice runs a test on a desk of every engine.
func onPractice(t *testing.T, test func(t *testing.T, p *rig.Practice)) {
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		t.Parallel()
		test(t, rig.NewPractice(t, dsn, nil))
	})
}
