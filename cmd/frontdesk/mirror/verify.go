package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
)

// mended is what was wrong with the copy of a resource.
type mended struct{ leftOut, changed, tooMany int64 }

func (m mended) records() int64 { return m.leftOut + m.changed + m.tooMany }

// attempts is how often a resource is compared and mended: beside writers something may have
// changed while it was.
const attempts = 5

// verify compares the copy with the digests of the service, and mends what differs: what was read
// anew, and is not as the copy has it.
func (m *mirror) verify(ctx context.Context) error {
	var all int64
	for _, t := range m.copy.tables {
		before := m.asked
		found, err := m.verifyResource(ctx, t)
		if err != nil {
			return err
		}
		n, err := m.copy.count(t)
		if err != nil {
			return err
		}
		if all += found.records(); found.records() == 0 {
			m.o.Say("%s: %d records, whole", t.resource.Name, n)
			continue
		}
		m.o.Say("%s: %d records; mended %d left out, %d changed, %d too many; %d records read", t.resource.Name, n,
			found.leftOut, found.changed, found.tooMany, m.asked-before)
	}
	if all > 0 {
		return Differed{all}
	}
	return nil
}

func (m *mirror) verifyResource(ctx context.Context, t *table) (all mended, err error) {
	if all.tooMany, err = m.copy.deleteOutside(t); err != nil {
		return all, err
	}
	for range attempts {
		if err := m.catchUp(ctx, nil); err != nil {
			return all, err
		}
		ids, err := m.differing(ctx, t)
		if err != nil || len(ids) == 0 {
			return all, err
		}
		before := all
		for some := range slices.Chunk(ids, arraysPage) {
			found, err := m.mend(ctx, t, some)
			if err != nil {
				return all, err
			}
			all = mended{all.leftOut + found.leftOut, all.changed + found.changed, all.tooMany + found.tooMany}
			m.o.Show(t.resource.Name+": mended", all.records(), int64(len(ids)))
		}
		if all == before {
			return all, nil // a digest of how records were seen last may be of earlier than they are read
		}
	}
	return all, errors.New(t.resource.Name + ": the copy still differs after it was mended")
}

// differing finds the ids by which the copy differs. Ranges that differ are asked for in parts,
// down to single ids, each time after the copy has caught up: what had changed in between is
// alike then.
func (m *mirror) differing(ctx context.Context, t *table) (ids []int64, err error) {
	differ, err := m.compare(ctx, t, 1, 0)
	for err == nil && len(differ) > 0 {
		if err := m.catchUp(ctx, nil); err != nil {
			return nil, err
		}
		var narrower []digestRange
		for _, r := range differ {
			if r.From == r.To {
				ids = append(ids, r.From)
				continue
			}
			parts, err := m.compare(ctx, t, r.From, r.To)
			if err != nil {
				return nil, err
			}
			narrower = append(narrower, parts...)
		}
		m.o.Show(t.resource.Name+": ranges that differ", int64(len(narrower)), 0)
		differ = narrower
	}
	return ids, err
}

// compare returns the ranges in which the copy differs.
func (m *mirror) compare(ctx context.Context, t *table, from, to int64) (differ []digestRange, err error) {
	ranges, err := m.digest(ctx, t, from, to)
	if err != nil || len(ranges) == 0 {
		return nil, err
	}
	// The line of a record is its id, a blank, its modified_at and a line feed.
	at, sum, foreign := 0, sha256.New(), false
	end := func() {
		if foreign || hex.EncodeToString(sum.Sum(nil)) != ranges[at].Digest {
			differ = append(differ, ranges[at])
		}
		sum.Reset()
		foreign = false
		at++
	}
	var line []byte
	err = m.copy.rows(t, ranges[0].From, ranges[len(ranges)-1].To, func(r row) error {
		for r.id > ranges[at].To {
			end()
		}
		line = append(strconv.AppendInt(line[:0], r.id, 10), ' ')
		line = append(append(line, r.modified...), '\n')
		sum.Write(line)
		foreign = foreign || !r.intact
		return nil
	})
	if err != nil {
		return nil, err
	}
	for at < len(ranges) {
		end()
	}
	return differ, nil
}

// mend reads records anew. Those that have changed since the copy caught up last are told of,
// and were not wrong.
func (m *mirror) mend(ctx context.Context, t *table, ids []int64) (found mended, err error) {
	records, err := m.these(ctx, t, ids)
	if err != nil {
		return found, err
	}
	there := map[int64]record{}
	for _, r := range records {
		there[r.id()] = r
	}
	told := map[int64]bool{}
	err = m.catchUp(ctx, func(resource string, id int64) { told[id] = told[id] || resource == t.resource.Name })
	if err != nil {
		return found, err
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return told[id] })
	err = m.copy.write(func() error {
		for _, id := range ids {
			var have *row
			err := m.copy.rows(t, id, id, func(r row) error { have = &r; return nil })
			if err != nil {
				return err
			}
			r, present := there[id]
			switch {
			case !present && have != nil:
				found.tooMany++
				err = m.copy.deleteRecord(t, id)
			case present && have == nil:
				found.leftOut++
				err = m.copy.putRecord(t, r)
			case present:
				var values []any
				if values, err = t.values(r); err == nil && (!have.intact || have.sum != values[len(values)-1]) {
					found.changed++
					err = m.copy.putRecord(t, r)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}
