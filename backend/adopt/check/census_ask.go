package check

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/backend/remote"
	"frontdesk/mapping"
)

// census walks the records of a resource, and returns a census for each resource whose records it finds,
// even if the walk fails. Then it reads records of the client one by one, and polls for changes. A
// resource without a walk has no census.
func (c *httpCheck) census(ctx context.Context, r *mapping.Resource, client auth.Client) (censuses, error) {
	all, of := censuses{}, c.Sheet.Resources[r].Service
	if of.Walk == nil {
		return all, nil
	}
	alone := int64(0)
	if of.PerClient {
		alone = client.ID
	}
	all.begin(c.service, c.Sheet, r, "", alone)
	err := c.service.Walk(ctx, r, client, nil, func(page []remote.Seen) { all.add(ctx, page) })
	for _, s := range all {
		s.finish()
	}
	if err == nil {
		all[r].reread(ctx, client)
		all[r].askSince(ctx, client)
	}
	return all, cmp.Or(err, ctx.Err())
}

// reread reads the first and the last record of a client by themselves.
func (s *census) reread(ctx context.Context, client auth.Client) {
	ends := cmp.Or(s.clients[client.ID], s.clients[0])
	if ends == nil || s.of.Get == nil {
		return
	}
	records := ends[:]
	if ends[0].Record.ID() == ends[1].Record.ID() {
		records = ends[1:]
	}
	failed, differs, lacks := found{what: getFails, at: "get", of: len(records)}, map[string]int{}, map[string]int{}
	for _, t := range records {
		now, err := s.service.Read(ctx, s.Resource, client, t.Record.ID())
		if err != nil {
			failed.records, failed.err = failed.records+1, err
			continue
		}
		if now.Client != t.Client || now.Hidden {
			differs["client"]++
		}
		compare(t, now, differs, lacks)
	}
	if failed.records > 0 {
		s.found = append(s.found, failed)
	}
	for what, all := range map[claim]map[string]int{getDiffers: differs, listLacks: lacks} {
		for _, at := range slices.Sorted(maps.Keys(all)) {
			s.found = append(s.found, found{what: what, at: at, records: all[at], of: len(records)})
		}
	}
}

// compare counts the fields in which a record of the list differs from the same record read by itself.
func compare(listed, single remote.Seen, differs, lacks map[string]int) {
	for i := range listed.Record.Values {
		f := &listed.Record.Resource.Fields[i]
		was, is := listed.Record.Values[i], single.Record.Values[i]
		switch {
		case f.Type == mapping.Bytea:
		case slices.Contains(listed.Absent, i) && !slices.Contains(single.Absent, i):
			lacks[f.Name]++
		case was != is, len(listed.Record.Children[i]) != len(single.Record.Children[i]):
			differs[f.Name]++
		}
	}
}

// never is a moment after all changes.
const never = "2037-03-07T11:17:13.000Z"

// askSince polls for changes since the newest record changed, and since never.
func (s *census) askSince(ctx context.Context, client auth.Client) {
	of := s.of.Walk.Since
	if of == nil || !of.Cursor.IsZero() || !s.newest.IsSet() {
		return
	}
	ask := func(from string) (shown int, hasNewest bool, err error) {
		err = s.service.Walk(ctx, s.Resource, client, &from, func(page []remote.Seen) {
			for _, t := range page {
				hasNewest = hasNewest || t.Record.ID() == s.newestID
				if !t.Gone && !t.Hidden && len(t.Faults) == 0 {
					shown++
				}
			}
		})
		return shown, hasNewest, err
	}
	from := min(s.newest.Int(), time.Now().UnixMilli()) - of.Settle.Milliseconds()
	switch _, hasNewest, err := ask(mapping.MilliValue(from).String()); {
	case err != nil:
		s.note(sinceFails, "walk.since", s.records, err)
		return
	case !hasNewest:
		s.note(sinceMisses, "walk.since", 1, nil)
	}
	if shown, _, err := ask(never); err == nil && shown > 0 {
		s.note(sinceIgnored, "walk.since", shown, nil)
	}
}
