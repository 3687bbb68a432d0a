package legacy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// following is what a script knows of changes.
type following struct {
	db      sqlrecord.DB // of the gateway's own; nil before anything is followed
	by      *follow.Follower
	cursors map[int64]string
	copies  []*drivertest.Copy
	read    int64  // records by looks
	at      string // how far entries were read
}

// changes does what is about changes; false if it is something else.
func (p *play) changes(verb, rest, want string) bool {
	p.t.Helper()
	f := &p.following
	if f.db == nil && (verb == "own" || verb == "follow") {
		f.db, f.cursors = ownDatabases(p.t, p.engine)(), map[int64]string{}
		if verb == "own" {
			p.prepared(f.db)
		}
	}
	switch verb {
	case "own": // a statement in the gateway's own database, before anybody looks
		_, err := sqlrecord.Change(p.t.Context(), f.db, rest)
		require.NoError(p.t, err)
	case "follow":
		f.by = p.follows(f.db, nil)
		f.read = p.looked()
	case "stop":
		require.NoError(p.t, f.by.Close())
	case "often":
		for _, r := range p.sheet.Resources {
			r.Changes.Every = 10 * time.Millisecond
		}
	case "tells":
		require.Equal(p.t, want, string(f.by.Feed(p.model.Resource(rest))))
	case "begin":
		f.cursors[p.who.ID] = p.cursor(p.who)
	case "copy":
		f.copies = append(f.copies, p.copyOf(p.who))
	case "equal":
		p.equal(f.copies...)
	case "told":
		p.isTold(rest, want)
	case "counted":
		await.True(p.t, func() bool { return strconv.Itoa(p.counted(p.who, rest)) == want }, want)
	case "reads": // so many records at least, and exactly so many with ->
		n, _ := strconv.ParseInt(rest+want, 10, 64)
		await.True(p.t, func() bool { return p.looked() >= f.read+n })
		require.True(p.t, want == "" || p.looked() == f.read+n)
		f.read = p.looked()
	default:
		return p.entries(verb, rest, want)
	}
	return true
}

// isTold waits until a client is told this behind his cursor, or behind that of another.
func (p *play) isTold(how, want string) {
	p.t.Helper()
	cursor, told := p.following.cursors[p.who.ID], ""
	if how != "" {
		cursor = p.following.cursors[two.ID]
	}
	defer func() {
		if p.t.Failed() {
			p.t.Log("told is: ", told)
		}
	}()
	await.True(p.t, func() bool {
		told = p.changed(p.who, cursor)
		return told == want
	}, want)
}

// looked is how many records were read by looks.
func (p *play) looked() (n int64) {
	all, err := p.following.by.Scans(p.t.Context())
	require.NoError(p.t, err)
	for _, s := range all {
		n += s.Records
	}
	return n
}

// entries reads what the system notes itself, two at a time; false if it is something else.
func (p *play) entries(verb, rest, want string) bool {
	p.t.Helper()
	resource, how, _ := strings.Cut(rest, " ")
	r, f, ctx := p.model.Resource(resource), &p.following, p.t.Context()
	var told []string
	switch verb {
	case "position":
		at, err := p.Position(ctx, r, p.who)
		require.NoError(p.t, err)
		if want == "" {
			f.at = at
		} else if at == f.at {
			told = append(told, "as before")
		}
	case "entries":
		from := f.at
		if place, is := strings.CutPrefix(how, "from "); is {
			from = strings.Replace(place, "the beginning", "", 1)
		}
		told = p.noted(r, from, how == "")
	case "named":
		told = p.namedBy(r, strings.Split(how, "|"))
	case "marked":
		for page := (follow.Entries{Next: how, More: true}); page.More; {
			var err error
			if page, err = p.Entries(ctx, r, p.who, page.Next, 1); want == "no time" {
				require.ErrorContains(p.t, err, "since when")
				return true
			}
			require.NoError(p.t, err)
			for _, id := range page.Others {
				told = append(told, fmt.Sprint(id))
			}
		}
	default:
		return false
	}
	require.Equal(p.t, want, strings.Join(told, ", "), "%s %s", verb, rest)
	return true
}

// noted is a page of entries behind a place; goesOn has the next one begin behind it.
func (p *play) noted(r *mapping.Resource, from string, goesOn bool) (told []string) {
	page, err := p.Entries(p.t.Context(), r, p.who, from, 2)
	if errors.Is(err, follow.ErrPositionGone) {
		return []string{"gone"}
	}
	require.NoError(p.t, err)
	for _, key := range page.Keys {
		told = append(told, strings.Join(key, "/"))
	}
	if page.Nameless > 0 {
		told = append(told, fmt.Sprint(page.Nameless, " nameless"))
	}
	if page.More {
		told = append(told, "and more")
	}
	if goesOn && len(told) > 0 {
		p.following.at = page.Next
	}
	return told
}

// namedBy are the records of some keys, and the IDs of those that are none.
func (p *play) namedBy(r *mapping.Resource, keys []string) (told []string) {
	var all [][]string
	for _, key := range keys {
		all = append(all, []string{key})
	}
	records, others, err := p.Named(p.t.Context(), r, p.who, all)
	require.NoError(p.t, err)
	for _, rec := range records {
		told = append(told, valuesOf(rec, []string{map[string]string{"contact": "name", "contactcommunication": "value"}[r.Name]}))
	}
	for _, id := range others {
		if p.sheet.Resource(r.Name).Key.Kept {
			told = append(told, "no ID that was given out")
		} else {
			told = append(told, fmt.Sprint("no ", id))
		}
	}
	return told
}
