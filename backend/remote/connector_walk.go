package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// walking is one walk.
type walking struct {
	c     *connector
	r     *sheet.Resource
	on    *call
	pages *sheet.Pages
	k     *known
	all   bool // over all records, not only those that have changed
	// had are the hashes of the keys that came.
	had map[uint64]struct{}
	// pasts are the hashes of the pages that came, barren how many in a row had no new record.
	pasts  map[uint64]struct{}
	barren int
	// hasNext says that an answer had the place of the next page, hasMore the one that says whether there
	// is a next page.
	hasNext, hasMore bool
	total            int  // the service's latest total; -1 if there is none
	counted          bool // as many records have come as the total
	full             bool // the last page had as many records as were requested
}

// page is one page.
type page struct {
	rows    []sheet.JSON
	size    int    // how many records were requested
	last    []any  // the key of the last record
	next    any    // the cursor or the link of the next page; nil for none
	hasNext bool   // the answer has the place of next
	more    bool   // the answer says that there is a next page
	ends    bool   // the answer says that there is none
	sum     uint64 // of its keys
	anew    bool   // the page has a record that did not come before
}

func (c *connector) walk(ctx context.Context, r *sheet.Resource, client auth.Client, since *string, each func([]sheet.JSON) error, rest func(context.Context, time.Duration) error) (next string, err error) {
	walk := r.Service.Walk
	if walk == nil || since != nil && walk.Since == nil {
		return "", unexpected(fmt.Errorf("the sheet does not say how %s are listed", r.Name))
	}
	k, err := c.knows(ctx, client)
	if err != nil {
		return "", err
	}
	w := &walking{c: c, r: r, on: c.calls[&walk.ServiceCall], pages: &walk.Paging, k: k, all: since == nil, had: map[uint64]struct{}{}, pasts: map[uint64]struct{}{}, total: -1}
	var cursor sheet.Spot
	if walk.Since != nil {
		cursor = walk.Since.Cursor
	}
	if since != nil {
		w.on = c.calls[&walk.Since.ServiceCall]
		if k.since, err = sinceOf(r, *since); err != nil {
			return "", err
		}
	}
	k.page = &pageRequest{number: w.pages.First, limit: w.pages.Size}
	for refused := 0; ; {
		p, found, err := w.ask(ctx, cursor)
		if wait := pauseOf(ctx, err, refused); wait > 0 {
			if err := rest(ctx, wait); err != nil {
				return "", err
			}
			refused++
			continue
		}
		if err != nil {
			return "", err
		}
		refused = 0
		// The first cursor of a walk over all covers all changes since its begin. Of a walk over
		// changes, the last cursor leads on.
		if found != "" && (next == "" || !w.all) {
			next = found
		}
		if len(p.rows) > 0 {
			if err := each(p.rows); err != nil {
				return "", err
			}
		}
		goesOn, err := w.turn(ctx, p)
		if err != nil {
			return "", err
		}
		if !goesOn {
			return next, nil
		}
		if err := rest(ctx, walk.Pause); err != nil {
			return "", err
		}
	}
}

// mostRefusals is how often in a row a walk asks for a page again that the service has no time for.
const mostRefusals = 10

// pauseOf is after how long a page is asked for again that was refused with 429, and zero if it is not. A
// walk over many pages would never end if each refusal ended it. What a request waits for has a deadline, and
// is refused.
func pauseOf(ctx context.Context, err error, refused int) time.Duration {
	var violation *mapping.Error
	if _, bounded := ctx.Deadline(); bounded || refused == mostRefusals || !errors.As(err, &violation) || violation.RetryAfter == 0 {
		return 0
	}
	return max(violation.RetryAfter, min(time.Second<<refused, time.Minute))
}

// sinceOf is the value of {since}: a cursor, or a moment in the service's form of modified_at.
func sinceOf(r *sheet.Resource, since string) (any, error) {
	at := r.Resource.Field("modified_at")
	if since == "" || at == nil || !r.Service.Walk.Since.Cursor.IsZero() {
		return orNull(since), nil
	}
	moment, err := time.Parse(time.RFC3339Nano, since)
	if err != nil {
		return nil, fmt.Errorf("a walk since what is no moment: %w", err)
	}
	return r.Service.Fields[at.Index].Since(at, moment)
}

// mayEnd reports whether the service may fail to answer the next page: as many records have come as the
// total, or more and the last page was not full. A page that an answer announced must be answered.
func (w *walking) mayEnd() bool {
	return !w.isLed() && w.counted && (len(w.had) == w.total || !w.full)
}

// ask requests a page. cursor is the place of the next value of since in the answer.
func (w *walking) ask(ctx context.Context, cursor sheet.Spot) (p page, next string, err error) {
	reply, err := w.c.send(ctx, w.on, w.k)
	if err != nil {
		return p, "", err
	}
	defer w.c.wire.conclude(reply.answer, &err)
	ended := page{ends: true}
	if !isSuccess(reply.status) {
		if w.mayEnd() && reply.status < 500 && reply.status != 429 {
			return ended, "", nil
		}
		if reply.status == 404 && reply.isOwn() {
			return p, "", changed(w.r, "its list is not there: %w", failure(reply.answer))
		}
		return p, "", w.c.refused(ctx, reply, sheet.Attempt{}, nil)
	}
	if p.rows, err = w.c.records(ctx, reply); errors.Is(err, errNoList) && w.mayEnd() {
		return ended, "", nil
	} else if err != nil {
		return p, "", w.c.refused(ctx, reply, sheet.Attempt{}, err)
	}
	body, _ := reply.body()
	p.size = w.k.page.limit
	if err := w.judgeClients(ctx, p.rows); err != nil {
		return p, "", err
	}
	if err := w.note(ctx, &p); err != nil {
		return p, "", err
	}
	if err := w.follow(ctx, reply, body, &p); err != nil {
		return p, "", err
	}
	if err := w.judgeRepeat(&p); err != nil {
		return p, "", err
	}
	if !cursor.IsZero() {
		if next, err = textAt(ctx, cursor, body); err != nil {
			return p, "", changed(w.r, "the cursor at %s: %w", cursor, err)
		}
	}
	return p, next, nil
}

var errNoList = errors.New("no list")

// records are the records in an answer.
func (c *connector) records(ctx context.Context, reply *reply) ([]sheet.JSON, error) {
	at := reply.on.Result
	found, there, err := reply.result(ctx)
	if err != nil {
		return nil, err
	}
	body, _ := reply.body()
	rows, ok := found.List()
	switch {
	case ok:
	case c.source.XML && (!there || found.IsEmpty()) && isAround(at, body):
	case c.source.XML && there:
		rows = []sheet.JSON{found}
	default:
		return nil, reply.changed("%w at %q of the answer", errNoList, at)
	}
	if slices.ContainsFunc(rows, func(row sheet.JSON) bool { return !row.IsObject() }) {
		return nil, reply.changed("what is no record in the list at %q of the answer", at)
	}
	return rows, nil
}

// note notes the records of a page.
func (w *walking) note(ctx context.Context, p *page) error {
	here, all := make(map[uint64]struct{}, len(p.rows)), xxhash.New()
	for _, row := range p.rows {
		parts, err := partsOf(ctx, w.r, row)
		if err != nil {
			return err
		}
		key := sheet.KeyText(parts...)
		_, _ = all.WriteString(key + "\x00") // a hash never fails
		sum := xxhash.Sum64String(key)
		if _, twice := here[sum]; twice {
			return changed(w.r, "the record %.40q twice in one page", key)
		}
		here[sum] = struct{}{}
		if _, had := w.had[sum]; !had {
			w.had[sum], p.anew = struct{}{}, true
		}
		p.last = parts
	}
	p.sum = all.Sum64()
	return nil
}

// mostBarren is how many pages in a row may be empty, or have only records that came before, such as
// records that changed during the walk and came again.
const mostBarren = 1000

// judgeRepeat fails if a page comes again, or nothing new comes.
func (w *walking) judgeRepeat(p *page) error {
	next, _ := sheet.ScalarText(p.next)
	sum := p.sum ^ xxhash.Sum64String(next)
	_, past := w.pasts[sum]
	w.pasts[sum] = struct{}{}
	if w.barren++; p.anew {
		w.barren = 0
	}
	switch {
	case past && !p.anew && w.mayEnd(): // the service repeats the last page in place of a next one
		*p = page{ends: true}
		return nil
	case past && !p.anew && len(p.rows) > 0:
		return changed(w.r, "the same page twice")
	case w.barren > mostBarren:
		return changed(w.r, "%d pages without a record that had not come, and still a next one", w.barren)
	default:
		return nil
	}
}

// judgeClients fails for a page whose records do not name their clients, or none of which belongs to the
// client that the page was requested for.
func (w *walking) judgeClients(ctx context.Context, rows []sheet.JSON) error {
	at, shown, stated, own := w.r.Service.Client, 0, 0, 0
	if at.IsZero() || len(rows) == 0 || !w.all { // a deleted record need not name its client
		return nil
	}
	for _, row := range rows {
		if show := w.r.Service.Select; show != nil {
			if is, err := show.Holds(ctx, row.Read()); err != nil || !is {
				continue // a hidden record need not name its client
			}
		}
		v, _, err := at.Of(ctx, row)
		if err != nil {
			return nil // take reports the fault of a single record
		}
		shown++
		if v != nil {
			stated++
		}
		if text := asText(v); text == asText(w.k.clientKey) || w.r.SystemClient != "" && text == w.r.SystemClient {
			own++
		}
	}
	switch {
	case shown == 0:
		return nil
	case stated == 0:
		return changed(w.r, "no record says its client at %s", at)
	case own == 0 && w.r.Service.PerClient:
		return changed(w.r, "no record of client %d in its own list", w.k.client.ID)
	default:
		return nil
	}
}
