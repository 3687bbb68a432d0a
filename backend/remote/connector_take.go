package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// taking converts the records of one page. First it finds all keys, then it looks up their IDs at once.
type taking struct {
	ctx    context.Context
	c      *connector
	client auth.Client
	refs   []sheet.KeyRef
	ids    sheet.IDs
}

// draft is a record whose IDs are not known yet.
type draft struct {
	*taken
	r      *sheet.Resource
	own    sheet.KeyRef     // its key, if its ID is kept
	refers []reference      // its references to records with kept IDs
	arrays map[int][]*draft // by field
}

type reference struct {
	field int
	to    sheet.KeyRef
}

func (c *connector) take(ctx context.Context, r *sheet.Resource, client auth.Client, rows []sheet.JSON) ([]taken, error) {
	t := &taking{ctx: ctx, c: c, client: client}
	all, drafts := make([]taken, len(rows)), make([]draft, len(rows))
	for i, row := range rows {
		d := &drafts[i]
		*d = draft{taken: &all[i], r: r}
		d.raw = row
		if err := t.begin(d); err != nil {
			return nil, err
		}
	}
	if err := t.clientsOf(drafts); err != nil {
		return nil, err
	}
	for i := range drafts {
		if d := &drafts[i]; d.isShown() {
			t.fields(d)
		}
	}
	if len(t.refs) > 0 {
		var err error
		if t.ids, err = c.IDStore.IDs(ctx, t.refs); err != nil {
			return nil, err
		}
	}
	for i := range drafts {
		t.finish(&drafts[i])
	}
	if err := t.ownersOf(r, drafts); err != nil {
		return nil, err
	}
	for i := range drafts {
		if d := &drafts[i]; d.isShown() {
			d.rec.Version = t.version(d)
		}
	}
	return all, nil
}

// begin finds the key of a record, and whether it is shown.
func (t *taking) begin(d *draft) error {
	parts, err := partsOf(t.ctx, d.r, d.raw)
	if err != nil {
		return err
	}
	d.rec = mapping.NewRecord(d.r.Resource)
	if d.r.Key.Kept {
		d.own = sheet.KeyRef{Resource: d.r.Name, Client: keyed(d.r, t.client), Key: sheet.KeyText(parts...)}
		t.refs = append(t.refs, d.own)
	} else {
		id, err := strconv.ParseInt(asText(parts[0]), 10, 32)
		if err != nil || id < 1 {
			return changed(d.r, "the key %.40q is no ID, which is a whole number from 1", asText(parts[0]))
		}
		d.rec.Values[d.r.ID] = mapping.IntValue(id)
	}
	walk, s := d.r.Service.Walk, d.r.Service
	if walk != nil && walk.Since != nil && walk.Since.Deleted != nil {
		if d.gone, err = walk.Since.Deleted.Holds(t.ctx, d.raw.Read()); err != nil {
			d.fail("select", err)
		}
	}
	if s.Select != nil && !d.gone && d.err == nil {
		shows, err := s.Select.Holds(t.ctx, d.raw.Read())
		if err != nil {
			d.fail("select", err)
		}
		d.hidden = err == nil && !shows
	}
	return nil
}

// fail notes why a record cannot be shown. of is the field, or the key of the sheet, that fails.
func (d *draft) fail(of string, err error) {
	d.faults = append(d.faults, Fault{of, err})
	if d.err == nil {
		d.err = unexpected(fmt.Errorf("%s.%w", d.r.Name, err))
	}
}

// clientsOf finds the clients of records that name theirs.
func (t *taking) clientsOf(drafts []draft) error {
	waiting := map[string][]*draft{}
	for i := range drafts {
		d := &drafts[i]
		if d.gone || d.err != nil {
			continue
		}
		text, err := t.clientIn(d)
		switch {
		case err != nil && d.hidden: // it may not be a record of the resource at all
		case err != nil:
			d.fail("client", err)
		case text != "":
			waiting[text] = append(waiting[text], d)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	numbers, err := t.c.clientNumbers(t.ctx, slices.Collect(maps.Keys(waiting)))
	for text, all := range waiting {
		for _, d := range all {
			d.client = numbers[text]
		}
	}
	return err
}

// clientIn finds the client of a record, or the text for it if clients are kept.
func (t *taking) clientIn(d *draft) (kept string, err error) {
	if d.r.Service.Client.IsZero() { // the client of the walk, or of the record that it belongs to
		d.client = keyed(d.r, t.client)
		return "", nil
	}
	text, err := t.c.whose(t.ctx, d.r, d.raw)
	if err != nil || t.c.Sheet.ClientsKept {
		return text, err
	}
	d.client, _ = clientNumber(text)
	return "", nil
}

// whose is the service's identity of a record's client; "" if the record belongs to all.
func (c *connector) whose(ctx context.Context, r *sheet.Resource, row sheet.JSON) (string, error) {
	at := r.Service.Client
	v, there, err := at.Of(ctx, row)
	text, ok := sheet.ScalarText(v)
	switch {
	case err != nil:
		return "", fmt.Errorf("client: %w", err)
	case !there:
		return "", fmt.Errorf("client: %w: a record without its client at %s", backend.ErrChanged, at)
	case v == nil || ok && isBlank(text):
		return "", fmt.Errorf("client: %w: nothing at %s", ErrNobody, at)
	case !ok:
		return "", fmt.Errorf("client: %s has what is no client", at)
	case r.SystemClient != "" && text == r.SystemClient:
		return "", nil
	}
	if _, is := clientNumber(text); !is && !c.Sheet.ClientsKept {
		return "", fmt.Errorf("client: %s has what is no number of a client", at)
	}
	return text, nil
}

// clientNumber is the number of a client in a text, in its usual form: 01 may be another client.
func clientNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}

// clientNumbers are the numbers of clients that the service knows by texts. A new client gets the
// next number.
func (c *connector) clientNumbers(ctx context.Context, texts []string) (map[string]int64, error) {
	numbers := map[string]int64{}
	var missing []sheet.KeyRef
	for _, text := range texts {
		if n, known := c.clients.Load(text); known {
			numbers[text] = n.(int64)
		} else {
			missing = append(missing, sheet.KeyRef{Resource: clientResource, Key: text})
		}
	}
	if len(missing) == 0 {
		return numbers, nil
	}
	ids, err := c.IDStore.IDs(ctx, missing)
	for ref, id := range ids {
		numbers[ref.Key] = int64(id)
		c.clients.Store(ref.Key, int64(id))
	}
	return numbers, err
}

// clientID is the number of one client that the service knows by a text.
func (c *connector) clientID(ctx context.Context, text string) (int64, error) {
	numbers, err := c.clientNumbers(ctx, []string{text})
	return numbers[text], err
}

// finish makes the record, now that all IDs are known.
func (t *taking) finish(d *draft) {
	if d.r.Key.Kept {
		d.rec.Values[d.r.ID] = mapping.IntValue(int64(t.ids[d.own]))
	}
	if !d.gone && !d.hidden {
		d.complete(t.ids)
		for field, elements := range d.arrays {
			t.finishElements(d, field, elements)
		}
	}
	if d.err != nil || d.gone {
		d.empty()
	}
}

// empty removes everything from the record but its ID.
func (d *draft) empty() {
	id := d.rec.Values[d.r.ID]
	d.rec = mapping.NewRecord(d.r.Resource)
	d.rec.Values[d.r.ID] = id
}

// complete fills in the IDs of the draft.
func (d *draft) complete(ids sheet.IDs) {
	for _, ref := range d.refers {
		d.rec.Values[ref.field] = mapping.IntValue(int64(ids[ref.to]))
	}
	d.rec.FillFlags()
	if system := &d.rec.Values[d.r.IsSystem]; d.client == 0 && d.r.SystemClient != "" {
		*system = mapping.IntValue(1)
	} else if !system.IsSet() {
		*system = mapping.IntValue(0)
	}
}

func (t *taking) finishElements(d *draft, field int, elements []*draft) {
	array, shown := &d.r.Resource.Fields[field], []mapping.Record{}
	seen := map[int32]bool{}
	for n, e := range elements {
		if key := e.r.Field(array.ArrayKey); key != nil && e.r.Service.Fields[key.Index].Read.IsZero() {
			e.rec.Values[key.Index] = d.rec.Values[d.r.ID]
		}
		t.finish(e)
		d.elements = append(d.elements, e.taken)
		switch {
		case e.err != nil:
			d.fail(array.Name, fmt.Errorf("%s[%d]: %w", array.Name, n, e.err))
			continue
		case e.hidden:
			continue
		case seen[e.rec.ID()]:
			d.fail(array.Name, fmt.Errorf("%s[%d]: the element twice", array.Name, n))
			continue
		}
		seen[e.rec.ID()] = true
		e.rec.Version = t.version(e)
		shown = append(shown, e.rec)
	}
	slices.SortFunc(shown, inOrder)
	d.rec.SetElements(field, shown)
}

// inOrder compares elements by sort_order, then by ID, which is the order of arrays. A service may
// return them in another order each time.
func inOrder(a, b mapping.Record) int {
	place := func(rec mapping.Record) int64 {
		at := rec.Resource.Field("sort_order")
		if at == nil || !rec.Values[at.Index].IsSet() {
			return math.MaxInt64
		}
		return rec.Values[at.Index].Int()
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.ID(), b.ID()))
}

// ownersOf finds the clients of records that have theirs from other records.
func (t *taking) ownersOf(r *sheet.Resource, drafts []draft) error {
	if r.Through == nil {
		return nil
	}
	at, of := r.Through.Index, r.Through.Field.Target()
	ids := map[int32]bool{}
	for i := range drafts {
		if v := drafts[i].rec.Values[at]; drafts[i].isShown() && v.IsSet() {
			ids[int32(v.Int())] = true
		}
	}
	clients := map[int32]int64{}
	if len(ids) > 0 {
		var err error
		if clients, err = t.c.owners(t.ctx, t.client, of, slices.Collect(maps.Keys(ids))); err != nil {
			return fmt.Errorf("the clients of %s by %s: %w", r.Name, r.Through.Name, err)
		}
	}
	for i := range drafts {
		d := &drafts[i]
		if !d.isShown() {
			continue
		}
		client, known := clients[int32(d.rec.Values[at].Int())]
		if !known { // or the record refers to none
			d.fail(r.Through.Name, fmt.Errorf("%s: %w", r.Through.Name, errNoOwner))
			d.empty()
		}
		if d.client = client; client == 0 && known {
			d.rec.Values[r.IsSystem] = mapping.IntValue(1)
		}
	}
	return nil
}

// ErrNobody says that a record is shown to nobody, because it has no client.
var ErrNobody = errors.New("a record of nobody")

// errNoOwner says that the record from which another has its client is not known.
var errNoOwner = fmt.Errorf("%w: that which tells whose it is, is not known", ErrNobody)

func (d *draft) isShown() bool { return d.err == nil && !d.gone && !d.hidden }

// version is a number that changes with what clients see of a record and its elements, and with the
// sheet's version, which need not change with the elements.
func (t *taking) version(d *draft) int64 {
	d.rec.Version = 0
	if at := d.r.Service.Version; !at.IsZero() {
		v, there, err := at.Of(t.ctx, d.raw)
		if text, ok := sheet.ScalarText(v); err == nil && there && ok {
			d.rec.Version = int64(xxhash.Sum64String(text) >> 1)
		}
	}
	var elements []mapping.Record
	for i := range d.r.Resource.Fields {
		elements = append(elements, d.rec.Children[i]...)
	}
	return sheet.Tag(d.rec, elements)
}
