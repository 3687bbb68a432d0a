package remote

import "frontdesk/mapping"

// Writes tells which fields the service can be sent.
func (s *Store) Writes(r *mapping.Resource, f *mapping.Field) bool { return s.Sheet.Writes(r, f) }
