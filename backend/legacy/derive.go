package legacy

import (
	"crypto/sha256"
	"encoding/hex"

	"frontdesk/mapping"
)

// derive sets what the interface derives from what is written, where the sheet
// has a place for it. What the database derives by itself is readonly in the
// sheet and not touched.
func (t *txn) derive(before, patch mapping.Record) {
	switch patch.Resource.Name {
	case "vehicle":
		status := patch.Get("publish_status")
		switch {
		case before.Resource == nil || status.IsAbsent() || status == before.Get("publish_status"):
		case status.Text() == "published":
			t.set(patch, "published_at", mapping.TimeValue(t.now()))
		default:
			t.set(patch, "published_at", mapping.NullValue())
		}
	case "document":
		if content := patch.Get("content"); !content.IsAbsent() {
			sum := sha256.Sum256([]byte(content.Text()))
			size, digest := mapping.IntValue(int64(len(content.Text()))), mapping.TextValue(hex.EncodeToString(sum[:]))
			if !content.IsSet() {
				size, digest = mapping.NullValue(), mapping.NullValue()
			}
			t.set(patch, "size", size)
			t.set(patch, "sha256", digest)
		}
	}
}

// set gives a derived field its value, where it can be written.
func (t *txn) set(patch mapping.Record, name string, v mapping.Value) {
	f := patch.Resource.Field(name)
	if f != nil && len(t.tables[patch.Resource].Fields[f.Index].Write) > 0 {
		patch.Values[f.Index] = v
	}
}
