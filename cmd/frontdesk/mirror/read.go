package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// listPage is a page of a list.
type listPage struct {
	Data  []record
	Next  *string
	Total int64
}

// read reads a resource from where the copy has come to.
func (m *mirror) read(ctx context.Context, t *table) error {
	if err := m.describe(ctx); err != nil {
		return err
	}
	var err error
	listed := !m.partly["/"+t.resource.Name]
	if listed {
		err = m.readList(ctx, t)
	}
	if !listed || is(err, parametersRequired) { // lines, which are listed by the record that they belong to
		if parent, array, key := m.parentOf(t.resource); parent != nil {
			err = m.readArrays(ctx, t, parent, array, key)
		} else {
			err = m.readRanges(ctx, t)
		}
	}
	if err != nil {
		return err
	}
	n, err := m.copy.count(t)
	if err == nil {
		m.o.Say("%s: %d records", t.resource.Name, n)
	}
	return err
}

// describe asks once which lists want a parameter, so that none is asked for without it. Of a
// service that does not say so, each is tried.
func (m *mirror) describe(ctx context.Context) error {
	if m.partly != nil {
		return nil
	}
	m.partly = map[string]bool{}
	var description struct {
		Paths map[string]struct {
			Get struct{ Parameters []struct{ Required bool } }
		}
	}
	err := m.client.get(ctx, "/openapi.json", url.Values{"api_key": {m.o.APIKey}}, &description)
	var answer *refusal
	if err != nil && !errors.As(err, &answer) {
		return err
	}
	for path, of := range description.Paths {
		for _, p := range of.Get.Parameters {
			m.partly[path] = m.partly[path] || p.Required
		}
	}
	return nil
}

// readList reads a resource that can be listed as a whole.
func (m *mirror) readList(ctx context.Context, t *table) error {
	query := url.Values{"page_size": {strconv.Itoa(pageSize)}, "total": {"1"}}
	return m.walk(ctx, t, "/"+t.resource.Name, query, idColumn, func(r record) ([]record, error) { return []record{r}, nil })
}

// readArrays reads lines together with the records that they belong to.
func (m *mirror) readArrays(ctx context.Context, t *table, parent *resource, array, key string) error {
	if err := m.copy.index(t, key); err != nil { // by which each page finds what is gone
		return err
	}
	query := url.Values{"page_size": {strconv.Itoa(arraysPage)}, "total": {"1"}, "fields": {idColumn + "," + array}}
	return m.walk(ctx, t, "/"+parent.Name, query, key, func(r record) (lines []record, err error) {
		elements, ok := r[array].([]any)
		if !ok && r[array] != nil {
			return nil, fmt.Errorf("%s %d: %s is no array", parent.Name, r.id(), array)
		}
		for _, e := range elements {
			line, _ := e.(map[string]any)
			lines = append(lines, line)
		}
		return lines, nil
	})
}

// walk reads a list page by page, and stores the records that each record of it brings. They
// are all that have its id as their key.
func (m *mirror) walk(ctx context.Context, t *table, path string, query url.Values, key string, brings func(record) ([]record, error)) error {
	var walked, total int64
	for {
		var page listPage
		query.Set("after", strconv.FormatInt(t.readTo, 10))
		if err := m.client.get(ctx, path, query, &page); err != nil {
			return err
		}
		if query.Has("total") {
			total = page.Total
			query.Del("total")
		}
		var records []record
		to := int64(lastID)
		for _, one := range page.Data {
			found, err := brings(one)
			if err != nil {
				return err
			}
			records = append(records, found...)
			if page.Next != nil {
				to = one.id()
			}
		}
		m.asked += int64(len(records))
		if err := m.copy.readPage(t, key, to, records); err != nil {
			return err
		}
		walked += int64(len(page.Data))
		m.o.Show(t.resource.Name, walked, total)
		if t.complete {
			return nil
		}
	}
}

// digestRange is a range of a digest.
type digestRange struct {
	From, To int64
	Count    int64
	Digest   string
}

// digest asks for the sums of a resource's records, from one id on; to is 0 for all that
// follow.
func (m *mirror) digest(ctx context.Context, t *table, from, to int64) ([]digestRange, error) {
	ranges := int64(pageSize)
	query := url.Values{"resource": {t.resource.Name}, "from": {strconv.FormatInt(from, 10)}}
	if to != 0 {
		query.Set("to", strconv.FormatInt(to, 10))
		ranges = min(ranges, to-from+1)
	}
	query.Set("ranges", strconv.FormatInt(ranges, 10))
	var answer struct{ Data []digestRange }
	err := m.client.get(ctx, "/changes/digest", query, &answer)
	if is(err, endpointUnknown) {
		return nil, fmt.Errorf("this api_key may not GET /changes/digest, which %s needs: ask the operator, or leave it out by --resource", t.resource.Name)
	}
	return answer.Data, err
}

// readRanges reads a resource that cannot be listed as a whole: digests tell which ids there
// are, and each record is read by its id.
func (m *mirror) readRanges(ctx context.Context, t *table) error {
	var ids []int64
	var read int64
	return m.present(ctx, t, t.readTo+1, 0, func(to int64, more []int64) error {
		if ids = append(ids, more...); len(ids) < arraysPage && to < lastID {
			return nil
		}
		records, err := m.byID(ctx, t, ids)
		if err != nil {
			return err
		}
		ids, read = nil, read+int64(len(records))
		m.o.Show(t.resource.Name, read, 0)
		return m.copy.readPage(t, idColumn, to, records)
	})
}

// present calls each for ranges of ids, up to one after the other, with those of records.
func (m *mirror) present(ctx context.Context, t *table, from, to int64, each func(to int64, ids []int64) error) error {
	ranges, err := m.digest(ctx, t, from, to)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		var ids []int64
		switch width := r.To - r.From + 1; {
		case r.Count == 0:
		case r.Count < width || width > pageSize:
			if err := m.present(ctx, t, r.From, r.To, each); err != nil {
				return err
			}
			continue
		default:
			for id := r.From; id <= r.To; id++ {
				ids = append(ids, id)
			}
		}
		if err := each(r.To, ids); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many records are asked for at the same time.
const atOnce = 4

// byID reads records one by one; those that are gone are left out.
func (m *mirror) byID(ctx context.Context, t *table, ids []int64) ([]record, error) {
	var names []string
	for _, f := range t.columns {
		names = append(names, f.Name)
	}
	query := url.Values{"fields": {strings.Join(names, ",")}}
	found, errs := make([]record, len(ids)), make([]error, len(ids))
	var asking sync.WaitGroup
	for first := range min(atOnce, len(ids)) {
		asking.Go(func() {
			for i := first; i < len(ids) && errs[first] == nil; i += atOnce {
				var one struct{ Data record }
				err := m.client.get(ctx, "/"+t.resource.Name+"/"+strconv.FormatInt(ids[i], 10), query, &one)
				if found[i] = one.Data; err != nil && !is(err, recordNotFound) {
					errs[first] = err
				}
			}
		})
	}
	asking.Wait()
	var records []record
	for _, r := range found {
		if r != nil {
			records = append(records, r)
		}
	}
	m.asked += int64(len(records))
	return records, errors.Join(errs...)
}

// these reads the records with these ids; those that are gone are left out.
func (m *mirror) these(ctx context.Context, t *table, ids []int64) ([]record, error) {
	if m.single[t] {
		return m.byID(ctx, t, ids)
	}
	var among []string
	for _, id := range ids {
		among = append(among, strconv.FormatInt(id, 10))
	}
	var page listPage
	query := url.Values{idColumn + "[in]": {strings.Join(among, ",")}, "page_size": {strconv.Itoa(len(ids))}}
	err := m.client.get(ctx, "/"+t.resource.Name, query, &page)
	var answer *refusal
	if errors.As(err, &answer) { // not to be listed as a whole, or not by ids
		m.single[t] = true
		return m.byID(ctx, t, ids)
	}
	m.asked += int64(len(page.Data))
	return page.Data, err
}
