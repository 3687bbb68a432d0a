package rollback

import (
	"path/filepath"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
)

// state is what is known of hashes: those in force, and those on disk, which a gateway may not have
// taken up yet.
type state struct {
	current *config.Config
	whole   map[string]bool // files on disk, and whether all api_keys that they have are known
	broken  []string        // of them
	inForce map[config.Digest]config.Expiry
	onDisk  map[config.Digest]config.Expiry
	file    map[config.Digest]string // that has it in what is in force
	ahead   bool                     // onDisk is all that the files have, as a gateway would take them up
}

func stateOf(current *config.Config, disk map[string][]byte) *state {
	s := &state{
		current: current, whole: map[string]bool{}, inForce: map[config.Digest]config.Expiry{}, onDisk: map[config.Digest]config.Expiry{}, file: map[config.Digest]string{},
	}
	for i := range current.APIKeys {
		key := &current.APIKeys[i]
		for _, hash := range key.Hashes {
			s.inForce[hash.Hash], s.file[hash.Hash] = key.EndOf(hash), key.At().File
		}
	}
	for path, text := range disk {
		ends, listed, broken := config.EndsIn(config.Text{Path: path, Text: text}, current.Server.TimeZone.Location)
		s.whole[path] = listed && !broken
		if broken {
			s.broken = append(s.broken, path)
		}
		for hash, end := range ends {
			s.onDisk[hash] = end
		}
	}
	s.lookAhead()
	return s
}

// lookAhead reads the files as a gateway would that is started now.
func (s *state) lookAhead() {
	next, err := desk.LoadForKeys(s.current.Files()[0])
	if err != nil || config.Lost(s.current, next) != nil {
		return
	}
	s.ahead, s.onDisk = true, map[config.Digest]config.Expiry{}
	for i := range next.APIKeys {
		for _, hash := range next.APIKeys[i].Hashes {
			s.onDisk[hash.Hash] = next.APIKeys[i].EndOf(hash)
		}
	}
}

// goneFromDisk tells whether somebody took a hash that is in force out of its file, or its file
// out of what is included. A file that cannot be read fully, or is gone with all others of its
// folder, was not changed for that.
func (s *state) goneFromDisk(hash config.Digest) bool {
	_, there := s.onDisk[hash]
	if there || s.ahead {
		return !there
	}
	file := s.file[hash]
	if whole, there := s.whole[file]; there {
		return whole
	}
	for path := range s.whole {
		if filepath.Dir(path) == filepath.Dir(file) && path != s.current.Files()[0] {
			return true
		}
	}
	return false
}

// end is when a hash ends at the latest, and why it ends then. The zero end is none.
func (s *state) end(hash config.Digest, now time.Time) (end config.Expiry, why string) {
	end, there := s.inForce[hash]
	why = "ends then as it is in force"
	switch {
	case !there:
		return ended(now), "is not in what is in force any more"
	case end.Passed(now):
		why = "has ended"
	case s.goneFromDisk(hash):
		return ended(now), "was taken out of " + s.file[hash]
	}
	if disk, there := s.onDisk[hash]; there && earlier(disk, end) {
		end, why = disk, "ends then as its file says"
	}
	return end, why
}

// ended is an end that has come.
func ended(now time.Time) config.Expiry {
	return config.Expiry{Time: now.UTC().Truncate(time.Second)}
}

// earlier tells whether one end comes before another.
func earlier(a, b config.Expiry) bool {
	return !a.IsZero() && (b.IsZero() || a.Before(b.Time))
}

// endsOf are the hashes of the target that are to end earlier than it says.
func (p *Plan) endsOf(target, current *config.Config, disk map[string][]byte, now time.Time) map[config.Digest]config.Expiry {
	s, ends := stateOf(current, disk), map[config.Digest]config.Expiry{}
	p.Broken = s.broken
	for i := range target.APIKeys {
		key := &target.APIKeys[i]
		for _, hash := range key.Hashes {
			had := key.EndOf(hash)
			end, why := s.end(hash.Hash, now)
			if !earlier(end, had) {
				continue
			}
			ends[hash.Hash] = end
			p.Ended = append(p.Ended, Ended{key.Name, hash.Hash.Short(), end, why})
		}
	}
	return ends
}
