package secrets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNumbersThatMayDifferOnSight are those of records alone: a price that differs is
// found, of however many digits it is.
func TestNumbersThatMayDifferOnSight(t *testing.T) {
	for before, may := range map[string]bool{
		`{"data":{"id"`: true, `{"contact_id"`: true, `"supplier_id"`: true, `{"data":[{"resource_id"`: true,
		`{"price"`: false, `"mileage"`: false, `"number"`: false, `"total"`: false, `"description":"12"`: false, `{"next":"/order?after`: false, `"id":"`: false, ``: false,
	} {
		require.Equal(t, may, namesRecords(before), before)
	}
}
