package backend

import (
	"frontdesk/mapping"
)

// ReadElements reads the elements of an array field of some records, in any order of the records.
// It fails with PageTooLarge if there is no room for the elements.
type ReadElements func(f *mapping.Field, of []mapping.Record) ([]mapping.Record, error)

// AddArrays gives the records of a page the elements of the arrays in q.Fields. Each array is
// read at once, for all records. A page with keyset paging is cut short if there is no room.
func (p *Page) AddArrays(q Query, r *mapping.Resource, read ReadElements) error {
	for _, i := range q.Fields {
		f := &r.Fields[i]
		if f.Type != mapping.Array || len(p.Records) == 0 {
			continue
		}
		elements, err := read(f, p.Records)
		for mapping.Is(err, mapping.PageTooLarge) && q.Keyset && len(p.Records) > 1 {
			p.Records, p.More = p.Records[:len(p.Records)/2], true
			elements, err = read(f, p.Records)
		}
		if err != nil {
			return err
		}
		share(p.Records, f, elements)
	}
	return nil
}

// ElementsOf is the query for the elements of an array field of some records, at least one.
func ElementsOf(q Query, f *mapping.Field, of []mapping.Record) Query {
	filter := Filter{Field: f.Target().Field(f.ArrayKey), Value: mapping.IntValue(int64(of[0].ID()))}
	if len(of) > 1 {
		filter = Filter{Field: filter.Field, Op: mapping.AnyOf}
		for _, rec := range of {
			filter.Values = append(filter.Values, mapping.IntValue(int64(rec.ID())))
		}
	}
	return Query{Client: q.Client, Filters: []Filter{filter}, Room: q.Room, Unversioned: q.Unversioned}
}

// share gives each record the elements of an array field that refer to it.
func share(records []mapping.Record, f *mapping.Field, elements []mapping.Record) {
	of := map[int64][]mapping.Record{}
	key := f.Target().Field(f.ArrayKey).Index
	for _, e := range elements {
		id := e.Values[key].Int()
		of[id] = append(of[id], e)
	}
	for i := range records {
		records[i].SetElements(f.Index, of[int64(records[i].ID())])
	}
}
