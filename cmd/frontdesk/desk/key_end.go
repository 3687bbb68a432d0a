package desk

import (
	"time"

	"frontdesk/cmd/frontdesk/desk/neighbours"
)

// keyFact is what a gateway knows of one hash of an api_key in addition to its files. It publishes
// changes of its files to the other gateways:
//
//	a change of the files     what is published
//	expires becomes earlier   that end, as final: nothing undoes it once it has passed; here, from now on
//	expires becomes later     no end, which undoes a published one that has not passed
//	the hash is removed       an end now, until files have the hash again
//	the hash is back          no end
//
// The earliest published end holds (Tables.PublishKeyEnds). The zero value knows nothing.
type keyFact struct {
	gone    bool              // the hash was removed from the files
	pending neighbours.KeyEnd // the change that is still to be published; none if its Key is ""
	changes int               // the number of changes, which distinguishes pending from an equal, earlier one
	known   neighbours.KeyEnd // the end that is published; none if its Key is ""
}

// filed returns f after a change of the files, from was to is; one without a Key means that the hash was not,
// or is not, in them. Only changes are published: a key that has ended when a gateway starts may simply have
// expired.
func (f keyFact) filed(was, is neighbours.KeyEnd, now time.Time) keyFact {
	end, there := is, is.Key != ""
	switch {
	case there && was.Key == "" && (f.gone || f.known.Key != "" && !f.known.Final):
		was.Ends = now // a removal, here or elsewhere, had ended it
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
	if !f.pending.Final || f.pending.Ends.After(now) { // a final end that has passed stays, even unpublished
		f.pending, f.pending.Final = end, there
		f.changes++
	}
	return f
}

// published returns f once the change with that number is published; known is what the database now has.
func (f keyFact) published(number int, known neighbours.KeyEnd) keyFact {
	if f.known = known; f.changes == number {
		f.pending, f.changes = neighbours.KeyEnd{}, 0
	}
	return f
}

// ends returns from when on the hash is refused, whatever the files say; zero for never. An end by expires
// holds even before it is published.
func (f keyFact) ends() time.Time {
	if f.pending.Final && sooner(f.pending.Ends, f.known.Ends) {
		return f.pending.Ends
	}
	return f.known.Ends
}
