package redis

import "time"

// Patient has sessions that were ended be remembered however slow the machine is.
func (s *Sessions) Patient() *Sessions {
	s.remembering = time.Minute
	return s
}
