package rows

import (
	"testing"

	"frontdesk/cmd/frontdesk/rig"
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
	{"whole model", contractModel},
	{"ops", contractOps},
}

// TestContract holds a desk to the contract.
func TestContract(t *testing.T) {
	t.Parallel()
	common, sections := readContract(t)
	onPractice(t, func(t *testing.T, p *rig.Practice) {
		for _, section := range sections {
			t.Run(section.name, func(t *testing.T) {
				defer p.Faults.None()
				s := newScript(p.In(t))
				s.run(common)
				s.run(section.lines)
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
