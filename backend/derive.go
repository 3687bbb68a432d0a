package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"frontdesk/mapping"
)

// Derive sets in patch the fields that the interface derives from others: the time since which
// a vehicle is advertised, and size and checksum of a document's content. before is the
// record as stored, zero for a new one. writes reports whether the administration can store
// a field; nil means every field. Fields that the administration derives itself are not
// touched.
func Derive(before, patch mapping.Record, now time.Time, writes func(*mapping.Resource, *mapping.Field) bool) {
	set := func(name string, v mapping.Value) {
		if f := patch.Resource.Field(name); f != nil && (writes == nil || writes(patch.Resource, f)) {
			patch.Values[f.Index] = v
		}
	}
	switch patch.Resource.Name {
	case "vehicle":
		status, had := patch.Get("publish_status"), mapping.Value{}
		if before.Resource != nil {
			had = before.Get("publish_status")
		}
		switch {
		case status.IsAbsent() || status == had:
		case status.Text() == "published":
			set("published_at", mapping.TimeValue(now))
		case before.Resource != nil:
			set("published_at", mapping.NullValue())
		}
	case "document":
		content := patch.Get("content")
		switch {
		case content.IsSet():
			sum := sha256.Sum256([]byte(content.Text()))
			set("size", mapping.IntValue(int64(len(content.Text()))))
			set("sha256", mapping.TextValue(hex.EncodeToString(sum[:])))
		case !content.IsAbsent():
			set("size", mapping.NullValue())
			set("sha256", mapping.NullValue())
		}
	}
}

// derive is Derive for a change that is about to be written.
func (c *Client) derive(change *Change) mapping.Record {
	Derive(change.Before, change.Patch, c.o.Now(), c.writes)
	return change.Patch
}
