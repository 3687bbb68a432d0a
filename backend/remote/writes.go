package remote

import "frontdesk/mapping"

// Writes tells which fields can be sent to the service. A service that speaks the protocol
// itself derives the fields that clients cannot send, except the status that publishing sets.
func (s *Store) Writes(r *mapping.Resource, f *mapping.Field) bool {
	if s.Sheet.Source.Frontdesk != nil {
		return !f.Readonly || f.Name == "publish_status"
	}
	return s.Sheet.Writes(r, f)
}
