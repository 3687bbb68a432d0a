package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// digestRange is a range of ids, with how many records the service has in it and their sum.
type digestRange struct {
	From, To int64
	Count    int
	Digest   string
}

// mostRanges is how many ranges are asked for at once.
const mostRanges = 1000

// digest asks for the sums from one id to another; to 0 is the highest.
func (c *copier) digest(resource string, from, to int64) ([]digestRange, error) {
	q, n := query("resource", resource, "from", fmt.Sprint(from)), int64(mostRanges)
	if to != 0 {
		q.Set("to", fmt.Sprint(to))
		n = min(n, to-from+1)
	}
	q.Set("ranges", fmt.Sprint(n))
	var answer struct{ Data []digestRange }
	err := c.get("/changes/digest", q, &answer)
	return answer.Data, err
}

// verify compares the copy of a resource with the service, and returns how many records it has
// mended. Beside writers it compares again what had changed meanwhile.
func (c *copier) verify(resource string) (mended int, err error) {
	for range 5 {
		ids, err := c.differing(resource, 1, 0)
		if err != nil {
			return mended, err
		}
		found := 0
		for _, id := range ids {
			record, err := c.one(resource, id)
			if err != nil {
				return mended, err
			}
			have := c.Records[resource][id]
			switch {
			case record == nil && have != nil:
				delete(c.Records[resource], id)
			case record != nil && (have == nil || about(have).ModifiedAt != about(record).ModifiedAt):
				c.Records[resource][id] = record
			default:
				continue // another request has told of it meanwhile
			}
			found++
		}
		if found == 0 {
			return mended, nil
		}
		mended += found
		if err := c.store(); err != nil {
			return mended, err
		}
	}
	return mended, fmt.Errorf("%s: the copy still differs after it was mended", resource)
}

// differing finds the ids by which the copy differs: ranges that do are asked for in parts, after
// the copy has caught up, so that what had changed in between is alike then.
func (c *copier) differing(resource string, from, to int64) (ids []int64, err error) {
	if err := c.catchUp(); err != nil {
		return nil, err
	}
	ranges, err := c.digest(resource, from, to)
	if err != nil {
		return nil, err
	}
	have := c.sorted(resource)
	for _, r := range ranges {
		first, _ := slices.BinarySearch(have, r.From)
		end, _ := slices.BinarySearch(have, r.To+1)
		if c.sum(resource, have[first:end]) == r.Digest {
			continue
		}
		if r.From == r.To {
			ids = append(ids, r.From)
			continue
		}
		more, err := c.differing(resource, r.From, r.To)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	return ids, nil
}

// sum is the digest of records: the line of each is its id, a blank, its modified_at and a line
// feed.
func (c *copier) sum(resource string, ids []int64) string {
	sum := sha256.New()
	for _, id := range ids {
		fmt.Fprintf(sum, "%d %s\n", id, about(c.Records[resource][id]).ModifiedAt)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (c *copier) sorted(resource string) (ids []int64) {
	for id := range c.Records[resource] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
