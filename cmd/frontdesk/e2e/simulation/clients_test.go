package simulation

import "fmt"

// clients are all that ask.
func (w *world) clients() (all []client) {
	for n := range 3 {
		all = append(all, &writer{asking: w.asker(fmt.Sprint("writer ", n))})
	}
	all = append(all, &follower{asking: w.asker("follower")})
	return all
}
