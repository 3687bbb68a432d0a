package remote

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Survey waits for the walk that finds the records of a resource, and returns what it has shown of
// each resource whose records it finds, also where it has failed. Then it reads records of the client
// one by one, and asks what has changed. The Driver must have been opened with Closely. A resource
// that nothing walks has no survey.
func (d *Driver) Survey(ctx context.Context, m *mapping.Resource, client auth.Client) ([]*Survey, error) {
	source := d.copy.sources[m]
	if source == nil {
		return nil, nil
	}
	p := source.of(d.copy, client)
	all, err := d.copy.survey(ctx, p)
	if s := all[p.r.Resource]; err == nil && s != nil {
		d.reread(ctx, p, s, client)
		d.askSince(ctx, p, s)
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *Survey) int { return cmp.Compare(a.Resource.Name, b.Resource.Name) }), cmp.Or(err, ctx.Err())
}

// survey waits until a walk has ended well, or failed.
func (c *copied) survey(ctx context.Context, p *walked) (surveys, error) {
	for {
		p.mu.Lock()
		all, failure, ended := p.surveyed, p.failure, p.ended
		p.mu.Unlock()
		if failure != nil {
			return all, failure
		}
		if s, err := c.state(ctx, p); err != nil || !s.walked.IsZero() {
			return all, err
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// surveyed keeps what a walk has shown.
func (l *look) surveyed() {
	if l.surveys == nil {
		return
	}
	for _, s := range l.surveys {
		s.finish()
	}
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.surveyed = l.surveys
}

// reread reads the first and the last record of a client by themselves.
func (d *Driver) reread(ctx context.Context, p *walked, s *Survey, client auth.Client) {
	ends := cmp.Or(s.clients[client.ID], s.clients[0])
	if ends == nil || p.r.Service.Get == nil {
		return
	}
	var records []*taken
	for _, t := range ends {
		if !slices.Contains(records, t) {
			records = append(records, t)
		}
	}
	failed, differs, lacks := Finding{What: GetFails, At: "get", Of: len(records)}, map[string]int{}, map[string]int{}
	for _, t := range records {
		rows, err := d.copy.fetch(ctx, p.r, client, t.rec.ID())
		var now []taken
		if err == nil {
			now, err = d.conn.take(ctx, p.r, client, rows)
		}
		if err == nil {
			err = now[0].err
		}
		if err != nil {
			failed.Records, failed.Err = failed.Records+1, err
			continue
		}
		if now[0].client != t.client || now[0].hidden {
			differs["client"]++
		}
		compare(t, &now[0], differs, lacks)
	}
	if failed.Records > 0 {
		s.Found = append(s.Found, failed)
	}
	for what, all := range map[Claim]map[string]int{GetDiffers: differs, ListLacks: lacks} {
		for _, at := range slices.Sorted(maps.Keys(all)) {
			s.Found = append(s.Found, Finding{What: what, At: at, Records: all[at], Of: len(records)})
		}
	}
}

// compare counts the fields in which a record of the list and the same by itself differ.
func compare(listed, single *taken, differs, lacks map[string]int) {
	for i := range listed.rec.Values {
		f := &listed.rec.Resource.Fields[i]
		was, is := listed.rec.Values[i], single.rec.Values[i]
		switch {
		case f.Type == mapping.Bytea:
		case slices.Contains(listed.absent, i) && !slices.Contains(single.absent, i):
			lacks[f.Name]++
		case was != is, len(listed.rec.Children[i]) != len(single.rec.Children[i]):
			differs[f.Name]++
		}
	}
}

// never is a moment that no change is of.
const never = "2037-03-07T11:17:13.000Z"

// askSince asks for what has changed since the newest record did, and since never.
func (d *Driver) askSince(ctx context.Context, p *walked, s *Survey) {
	if of := p.r.Service.Walk.Since; of == nil || !of.Cursor.IsZero() || !s.newest.IsSet() {
		return
	}
	ask := func(from string) (*look, error) {
		l := d.copy.look(p, nil)
		l.only = true
		_, err := l.run(ctx, &from)
		return l, err
	}
	switch changed, err := ask(since(p, s.newest, d.Now())); {
	case err != nil:
		s.found(SinceFails, "walk.since", s.Records, err)
		return
	case !slices.Contains(changed.seen, s.newestID):
		s.found(SinceMisses, "walk.since", 1, nil)
	}
	if changed, err := ask(never); err == nil && changed.count > 0 {
		s.found(SinceIgnored, "walk.since", changed.count, nil)
	}
}

// Nowhere returns the references of a survey that lead to no record which the client sees. All walks
// must have ended.
func (d *Driver) Nowhere(ctx context.Context, s *Survey) (found []Finding, err error) {
	for i := range s.fields {
		n := Finding{What: Nowhere, At: s.Resource.Fields[i].Name}
		ids := map[*mapping.Resource][]int32{}
		for ref := range s.fields[i].refers {
			ids[ref.to] = append(ids[ref.to], ref.id)
		}
		for to, all := range ids {
			if d.copy.sources[to] == nil {
				continue
			}
			kept, err := d.copy.records.Kept(ctx, to, all)
			if err != nil {
				return nil, ownFailure("copy of records", err)
			}
			for ref, records := range s.fields[i].refers {
				if ref.to != to {
					continue
				}
				n.Of += records
				if known, has := kept[ref.id]; !has || known.Client != 0 && known.Client != ref.client {
					n.Records += records
				}
			}
		}
		if n.Records > 0 {
			found = append(found, n)
		}
	}
	return found, nil
}

// Client gives the client its number that the service knows by a text, where clients are kept.
func (d *Driver) Client(ctx context.Context, text string) (auth.Client, error) {
	numbers, err := d.conn.clientNumbers(ctx, []string{text})
	return auth.Client{ID: numbers[text], Name: text}, err
}
