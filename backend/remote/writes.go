package remote

import "frontdesk/mapping"

// Writes tells which fields the service can be sent. One that speaks the protocol derives
// by itself what clients cannot send, but for the status that publishing sets.
func (s *Store) Writes(r *mapping.Resource, f *mapping.Field) bool {
	if s.Sheet.Source.Frontdesk != nil {
		return !f.Readonly || f.Name == "publish_status"
	}
	return s.Sheet.Writes(r, f)
}
