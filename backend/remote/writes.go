package remote

import "frontdesk/mapping"

// Writes tells which fields the service can be sent. One that is reached by the
// protocol says no when it is asked.
func (s *Store) Writes(r *mapping.Resource, f *mapping.Field) bool {
	known := s.Sheet.Resources[r]
	return known == nil || len(known.Fields[f.Index].Write) > 0
}
