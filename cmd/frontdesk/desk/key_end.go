package desk

import (
	"time"

	"frontdesk/cmd/frontdesk/desk/neighbours"
)

// keyFact is what a gateway knows of one hash of an api_key beside what its files say:
//
//	a change of the files     tells the others
//	expires becomes earlier   that end, final: once it has come nothing undoes it, here from now on
//	expires becomes later     that it has no end any more, which undoes one that has not come
//	the hash is gone          that it ends now, until files have it again
//	it is there again         that it has no end any more
//
// Of what was told the earliest end holds, by Tables.TellKeyEnds. The zero value knows nothing.
type keyFact struct {
	gone    bool              // the files had it, and have it no more
	untold  neighbours.KeyEnd // what the others have to hear; without a name nothing
	changes int               // the number of that, so that it is not taken for one like it
	known   neighbours.KeyEnd // what all were told; without a name nothing
}

// filed is what is known after the files have changed; without a name a hash is not in them. Only changes
// are told: what has ended when a gateway starts may simply have run out.
func (f keyFact) filed(was, is neighbours.KeyEnd, now time.Time) keyFact {
	end, there := is, is.Key != ""
	switch {
	case there && was.Key == "" && (f.gone || f.known.Key != "" && !f.known.Final):
		was.Ends = now // by files that did not have it, here or elsewhere
	case !there && was.Key == "":
		return f
	case !there:
		end, end.Ends = was, now
	}
	f.gone = !there
	passed := func(end time.Time) bool { return !end.IsZero() && !end.After(now) }
	switch {
	case end.Ends.Equal(was.Ends), passed(end.Ends) && passed(was.Ends):
		return f
	case !sooner(end.Ends, was.Ends):
		end.Ends, there = time.Time{}, false
	}
	if !f.untold.Final || f.untold.Ends.After(now) { // else it is final, also before the others have heard it
		f.untold, f.untold.Final = end, there
		f.changes++
	}
	return f
}

// heard is what is known once the others have heard of the change of that number, and what all were
// told has been read.
func (f keyFact) heard(told int, known neighbours.KeyEnd) keyFact {
	if f.known = known; f.changes == told {
		f.untold, f.changes = neighbours.KeyEnd{}, 0
	}
	return f
}

// ends is from when on the hash is refused, whatever the files say; zero for never. An end by expires
// counts before the others have heard it.
func (f keyFact) ends() time.Time {
	if f.untold.Final && sooner(f.untold.Ends, f.known.Ends) {
		return f.untold.Ends
	}
	return f.known.Ends
}
