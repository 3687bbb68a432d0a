package rows

import (
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

// contract is what the contract says beyond its rows, section by section. All
// of it is asked of one desk, in this order.
var contract = []struct {
	name string
	test func(t *testing.T, p *rig.Practice)
}{
	{"modified_since", contractModifiedSince},
	{"request id", contractRequestID},
	{"problem", contractProblem},
	{"placeholders", contractPlaceholders},
	{"paths", contractPaths},
	{"unreadable", contractUnreadable},
	{"methods", contractMethods},
	{"order of checks", contractOrderOfChecks},
	{"order among records", contractOrderAmongRecords},
	{"all violations", contractAllViolations},
	{"not JSON", contractNotJSON},
	{"authenticate", contractAuthenticate},
	{"token header", contractTokenHeader},
	{"session", contractSession},
	{"create", contractCreate},
	{"update", contractUpdate},
	{"empty text", contractEmptyText},
	{"no change", contractNoChange},
	{"dates", contractDates},
	{"state", contractState},
	{"state of an owner", contractOwnerState},
	{"order status", contractOrderStatus},
	{"encodings", contractEncodings},
	{"ETag", contractETag},
	{"ETag of an order", contractETagOfOrder},
	{"paging", contractPaging},
	{"sort", contractSort},
	{"fields", contractFields},
	{"filters", contractFilters},
	{"totals", contractTotals},
	{"totals follow", contractTotalsFollow},
	{"children", contractChildren},
	{"isolation of references", contractIsolationOfReferences},
	{"system records", contractSystemRecords},
	{"idempotency key", contractIdempotencyKey},
	{"idempotency key of errors", contractIdempotencyKeyOfErrors},
	{"publishing", contractPublishing},
	{"license plate", contractLicensePlate},
	{"license plate and country", contractPlateAndCountry},
	{"invoicing", contractInvoicing},
	{"bounds", contractBounds},
	{"check address", contractCheckAddress},
	{"check address, order", contractCheckAddressOrder},
	{"changes", contractChanges},
	{"changes, whose they are", contractChangesOfOthers},
	{"digest", contractDigest},
	{"small utilities", contractSmallUtilities},
	{"model", contractModel},
	{"ops", contractOps},
}

// TestContract holds a desk to the contract.
func TestContract(t *testing.T) {
	onPractice(t, func(t *testing.T, p *rig.Practice) {
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
	rig.OnEngines(t, func(t *testing.T, dsn string) { test(t, rig.NewPractice(t, dsn, nil)) })
}
