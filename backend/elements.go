package backend

import (
	"frontdesk/mapping"
)

// ReadElements reads the elements of an array field of some records, in any order of these.
// Its error is PageTooLarge if there is no room for them.
type ReadElements func(f *mapping.Field, of []mapping.Record) ([]mapping.Record, error)

// AddArrays gives the records of a page the elements of those arrays that q asks for, each
// array read at once. A page that goes by ID ends earlier if there is no room.
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

// ElementsOf asks for the elements of an array field of some records, at least one.
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

// share gives each record those elements of an array field that refer to it.
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
