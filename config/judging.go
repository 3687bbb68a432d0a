package config

import (
	"slices"
	"time"
)

// judging is the part of the whole configuration by which the keys of one file are judged.
type judging struct {
	endpoints []Endpoint
	basePath  string
	zone      *time.Location
	clientCA  bool // the server asks for certificates of clients

	faults map[Rule]string // of the rules that were judged: why each matches nothing
	seen   map[Rule]int    // of one allowlist, where each rule stands
}

func newJudging(c *Config, endpoints []Endpoint) judging {
	return judging{
		endpoints: endpoints, basePath: c.Server.BasePath, zone: c.Server.TimeZone.Location,
		clientCA: c.Server.TLS.ClientCAFile != "",
	}.forOne()
}

// forOne returns the same for the use of one goroutine.
func (j judging) forOne() judging {
	j.faults, j.seen = map[Rule]string{}, map[Rule]int{}
	return j
}

func (j judging) equal(other judging) bool {
	return j.basePath == other.basePath && j.zone.String() == other.zone.String() && j.clientCA == other.clientCA &&
		(j.endpoints == nil) == (other.endpoints == nil) && slices.Equal(j.endpoints, other.endpoints)
}

// fault says why a rule covers none of the endpoints; "" if it covers one. It caches the
// answers, because thousands of keys have the same few rules.
func (j judging) fault(r Rule) string {
	fault, seen := j.faults[r]
	if !seen {
		fault = r.unmatched(j.endpoints, j.basePath)
		j.faults[r] = fault
	}
	return fault
}
