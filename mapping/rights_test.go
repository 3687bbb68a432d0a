package mapping

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRightsCover(t *testing.T) {
	all, none := Rights(nil), Rights{"contact": {Reads: []string{"note"}}}
	both := Rights{"contact": {Reads: []string{"birth_date", "note"}}}
	writes := Rights{"contact": {Creates: []string{"note"}}}
	for _, c := range []struct {
		rights, other Rights
		covers        bool
	}{
		{all, none, true}, {none, none, true}, {none, both, true}, {writes, all, true},
		{none, all, false}, {both, none, false}, {none, writes, false},
	} {
		require.Equal(t, c.covers, c.rights.Cover(c.other), "%v %v", c.rights, c.other)
	}
	require.Empty(t, all.String())
	require.NotEqual(t, none.String(), writes.String())
	require.NotEqual(t, none.String(), both.String())
}

// TestView: what is seen of a record, and what is sent, are those of the whole model by name.
func TestView(t *testing.T) {
	whole, err := LoadModel("")
	require.NoError(t, err)
	v := whole.View(Rights{"orderline": {Reads: []string{"price", "total"}, Creates: []string{"price", "quantity", "total"}}, "order": {Reads: []string{"mileage"}}})
	order, line := v.Model.Resource("order"), v.Model.Resource("orderline")
	require.Nil(t, order.Field("mileage"))
	require.Equal(t, InCreates, line.Field("quantity").Withheld)
	require.NotEqual(t, whole.Version, v.Model.Version)

	rec := NewRecord(whole.Resource("order"))
	for i := range rec.Values {
		rec.Values[i] = IntValue(int64(i))
	}
	element := NewRecord(whole.Resource("orderline"))
	element.Set("price", IntValue(7))
	element.Set("quantity", IntValue(8))
	rec.SetElements(rec.Resource.Field("orderlines").Index, []Record{element})
	seen := v.Record(rec)
	for _, f := range Each(order.Fields) {
		require.Equal(t, rec.Get(f.Name), seen.Get(f.Name), f.Name)
		require.Equal(t, whole.Resource("order").Field(f.Name), v.WholeField(order, f))
	}
	lines := seen.Children[order.Field("orderlines").Index]
	require.Len(t, lines, 1)
	require.Equal(t, line, lines[0].Resource)
	require.Equal(t, IntValue(8), lines[0].Get("quantity"))

	body := v.Body(BodyOf(seen))
	require.Equal(t, whole.Resource("order"), body.Record.Resource)
	require.True(t, body.Record.Get("mileage").IsAbsent())
	require.Equal(t, rec.Get("kind"), body.Record.Get("kind"))
	sent := body.Line(rec.Resource.Field("orderlines").Index, 0)
	require.True(t, sent.Record.Get("price").IsAbsent())
	require.Equal(t, IntValue(8), sent.Record.Get("quantity"))
}
