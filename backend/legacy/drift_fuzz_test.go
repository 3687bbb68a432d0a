package legacy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// TestDriftUnderLoad changes a schema beneath requests that never stop, each change drawn from
// those that vendors make, and takes it back: what is answered is right, nothing is made up,
// nothing else closes, and all is open again. The soak draws 200 on each engine.
func TestDriftUnderLoad(t *testing.T) {
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) {
			n, seed := 6, uint64(11)
			if sqltest.Soak() {
				n, seed = 200, uint64(time.Now().UnixNano())
			}
			t.Logf("seed %d", seed)
			u, user := below(t, engine)
			u.drift(drawn(t, rand.New(rand.NewPCG(seed, 1)), engine, user, n), rand.New(rand.NewPCG(seed, 2)))
		})
	}
}

// drift makes alterations while workers ask and write.
func (u *under) drift(all []alteration, random *rand.Rand) {
	u.follows(ownDatabases(u.t, "sqlite")(), nil)
	known, after := u.copyOf(one), u.cursor(one)
	workers := []func(context.Context, *rand.Rand){u.asks, u.asks, u.writes("article", fixedRows+1), u.writes("contact", fixedRows+1), u.makes, u.reads(&after)}
	u.done = make([]int, len(workers))
	var at sync.WaitGroup
	for w, work := range workers {
		dice := rand.New(rand.NewPCG(random.Uint64(), uint64(w)))
		at.Go(func() {
			for ctx := u.t.Context(); ctx.Err() == nil; {
				if work(ctx, dice); !u.ended(w) {
					return
				}
			}
		})
	}
	var err error
	for i := range all {
		if err = u.altered(&all[i], random); err != nil {
			err = fmt.Errorf("alteration %d, %s: %w", i, all[i].name, err)
			break
		}
	}
	u.fail("the end")
	at.Wait()
	require.NoError(u.t, err)
	u.t.Logf("%d alterations: %v", len(all), u.counts)
	u.compare(known)
}

// compare compares SQL with what was written, and a client's copy with SQL.
func (u *under) compare(known *drivertest.Copy) {
	for name, last := range u.last {
		for n, v := range last {
			rec := u.get(one, name, u.ids[name][n])
			_, found := parsed(rec)
			require.Equal(u.t, v, found, "%s %d has another version than the last that was answered", name, n)
		}
	}
	u.equal(known)
}

// record is what a row is at a version, as far as the oracle knows it.
func (u *under) version(resource string, n, v int) mapping.Record {
	if resource == "article" {
		return u.record("article", "number", fmt.Sprintf("N%d.%d", n, v), "description", fmt.Sprintf("D%d.%d", n, v), "article_kind", kindOf(v), "unit_type", "piece", "turnover_group_id", strconv.Itoa(1+v%2),
			"price", strconv.Itoa(priceOf(n, v)), "purchase_price", strconv.Itoa(n), "supplier_id", strconv.Itoa(int(u.ids["contact"][supplierOf(n, v)])))
	}
	return u.record("contact", "kind", "person", "company_number", fmt.Sprintf("C%d.%d", n, v), "name", fmt.Sprintf("R%d.%d", n, v), "first_name", fmt.Sprintf("F%d.%d", n, v),
		"birth_date", bornOf(n, v).Format(time.RFC3339), "payment_days", strconv.Itoa(daysOf(n, v)))
}

// right tells what is wrong with a record; "" for nothing. fields are those that were asked for.
func (u *under) right(rec mapping.Record) string {
	n, v := parsed(rec)
	want := u.version(rec.Resource.Name, n, v)
	for i, w := range want.Values {
		if !w.IsAbsent() && w != rec.Values[i] {
			return fmt.Sprintf("%s %d: %s is %s, and is %s", rec.Resource.Name, rec.ID(), rec.Resource.Fields[i].Name, rec.Values[i], w)
		}
	}
	if id, ok := u.ids[rec.Resource.Name][n]; ok && id != rec.ID() {
		return fmt.Sprintf("%s of row %d has ID %d, and had %d", rec.Resource.Name, n, rec.ID(), id)
	}
	if stock := rec.Resource.Field("stock"); stock != nil && n <= fixedRows+movingRows && rec.Values[stock.Index] != mapping.DecimalValue(int64(n)*10000, 4) {
		return fmt.Sprintf("stock of article %d is %s", n, rec.Values[stock.Index])
	}
	if n <= fixedRows && v != 1 {
		return fmt.Sprintf("%s %d, which nobody changes, is of version %d", rec.Resource.Name, n, v)
	}
	return ""
}

// asks asks for a record, a list or a digest.
func (u *under) asks(ctx context.Context, dice *rand.Rand) {
	resource := []string{"article", "article", "contact", "turnovergroup"}[dice.IntN(4)]
	r := u.model.Resource(resource)
	before := u.phase.Load()
	switch what := dice.IntN(4); {
	case resource == "turnovergroup":
		page, err := u.front.List(ctx, r, backend.Query{Client: one})
		if u.judge("list of groups", resource, mapping.OpGet, false, before, err) && len(page.Records) != 2 {
			u.fail("%s: %d groups", phaseName(before), len(page.Records))
		}
	case what == 0:
		n := 1 + dice.IntN(fixedRows+movingRows)
		rec, err := u.front.Get(ctx, r, backend.Query{Client: one, ID: u.ids[resource][n], Tagged: true})
		if u.judge("get", resource, mapping.OpGet, false, before, err) {
			if wrong := u.right(rec); wrong != "" {
				u.fail("%s: get: %s", phaseName(before), wrong)
			}
		}
	case what == 1:
		_, err := u.front.Get(ctx, r, backend.Query{Client: one, ID: 1 << 30})
		if missing := mapping.Is(err, mapping.RecordNotFound); !missing {
			u.judge("get of none", resource, mapping.OpGet, false, before, err)
		}
	default:
		u.lists(ctx, r, dice)
	}
}

// lists asks for a list by a filter and in an order: it has all rows that nobody changes and that
// fit, in their order, and of others only such as are right and fit.
func (u *under) lists(ctx context.Context, r *mapping.Resource, dice *rand.Rand) {
	n := 1 + dice.IntN(fixedRows)
	of := u.version(r.Name, n, 1)
	fields := map[string][]string{"article": {"number", "description", "article_kind", "price", "purchase_price", "supplier_id", "turnover_group_id"}, "contact": {"company_number", "name", "first_name", "birth_date", "payment_days"}}[r.Name]
	by := r.Field(fields[dice.IntN(len(fields))])
	f := backend.Filter{Field: by, Op: []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Below, mapping.IsNull, mapping.AnyOf}[dice.IntN(5)], Value: of.Values[by.Index]}
	if by.Reference != "" && f.Op != mapping.IsNull { // kept keys have an order of their own
		f.Op = mapping.Equals
	}
	switch f.Op {
	case mapping.IsNull:
		f.Value = mapping.IntValue(int64(dice.IntN(2)))
	case mapping.AnyOf:
		f.Values = []mapping.Value{of.Values[by.Index], u.version(r.Name, 1, 1).Values[by.Index]}
	}
	q := backend.Query{Client: one, Filters: []backend.Filter{f}, Total: dice.IntN(2) == 0}
	sorts := []string{"price", "description", "birth_date", "payment_days"}
	sort := r.Field(sorts[dice.IntN(len(sorts))])
	if sort != nil {
		q.Sort = []backend.Order{{Field: sort, Descending: dice.IntN(2) == 0}}
	}
	before := u.phase.Load()
	page, err := u.front.List(ctx, r, q)
	what := fmt.Sprintf("list of %s by %s %v %s%v, sorted by %v", r.Name, by.Name, f.Op, f.Value, f.Values, q.Sort)
	if !u.judge(what, r.Name, mapping.OpList, false, before, err) {
		return
	}
	if q.Total && page.Total != int64(len(page.Records)) {
		u.fail("%s: %s: total %d of %d", phaseName(before), what, page.Total, len(page.Records))
	}
	var found []int
	for i, rec := range page.Records {
		n, _ := parsed(rec)
		if wrong := u.right(rec); wrong != "" {
			u.fail("%s: %s: %s", phaseName(before), what, wrong)
		}
		if !f.Matches(rec.Values[by.Index]) {
			u.fail("%s: %s has %s", phaseName(before), what, rec.Values[by.Index])
		}
		if i > 0 && sort != nil && sort.Type != mapping.Varchar && (backend.Filter{Field: sort, Op: beyondIt[q.Sort[0].Descending], Value: page.Records[i-1].Values[sort.Index]}).Matches(rec.Values[sort.Index]) {
			u.fail("%s: %s: %s comes behind %s", phaseName(before), what, rec.Values[sort.Index], page.Records[i-1].Values[sort.Index])
		}
		if n <= fixedRows {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	var want []int
	for n := 1; n <= fixedRows; n++ {
		if f.Matches(u.version(r.Name, n, 1).Values[by.Index]) {
			want = append(want, n)
		}
	}
	if !slices.Equal(found, want) {
		u.fail("%s: %s: rows %v, and there are %v", phaseName(before), what, found, want)
	}
}

// beyondIt is what the next record of a list must not be, descending or not.
var beyondIt = map[bool]mapping.Operator{true: mapping.Above, false: mapping.Below}

// writes changes the rows from one on, each version in all fields.
func (u *under) writes(resource string, from int) func(context.Context, *rand.Rand) {
	return func(ctx context.Context, dice *rand.Rand) {
		n := from + dice.IntN(movingRows)
		v := u.last[resource][n] + 1
		rec := u.version(resource, n, v)
		u.strain.RLock()
		defer u.strain.RUnlock()
		before := u.phase.Load()
		strained := before.of != nil && before.of.strains != "" && strains(rec, before.of.strains)
		stored, err := u.front.Update(ctx, one, u.ids[resource][n], mapping.BodyOf(rec), backend.Write{})
		if u.judge(fmt.Sprintf("update of %s %d", resource, n), resource, mapping.OpUpdate, strained, before, err) {
			u.last[resource][n] = v
			if wrong := u.right(stored); wrong != "" {
				u.fail("%s: update: %s", phaseName(before), wrong)
			}
		}
	}
}

// strains changes a record to one that the tables cannot hold; false where it has no such field.
func strains(rec mapping.Record, by string) bool {
	set := func(name string, v mapping.Value) bool {
		if rec.Resource.Field(name) != nil {
			rec.Set(name, v)
			return true
		}
		return false
	}
	switch by {
	case "long":
		return set("first_name", mapping.TextValue("a name of thirty letters and more"))
	case "null":
		return set("first_name", mapping.NullValue())
	case "large":
		return set("price", mapping.DecimalValue(1234567_0000, 4))
	case "fraction":
		return set("price", mapping.DecimalValue(9_8700, 4))
	default:
		return set("payment_days", mapping.IntValue(70_000))
	}
}

// makes makes an article and deletes it.
func (u *under) makes(ctx context.Context, dice *rand.Rand) {
	n := 1000 + dice.IntN(8000)
	before := u.phase.Load()
	rec, err := u.front.Create(ctx, one, mapping.BodyOf(u.version("article", n, 1)), backend.Write{})
	if !u.judge("create", "article", mapping.OpCreate, false, before, err) {
		return
	}
	if wrong := u.right(rec); wrong != "" {
		u.fail("%s: create: %s", phaseName(before), wrong)
	}
	for {
		before = u.phase.Load()
		err := u.front.Delete(ctx, one, rec.Resource, rec.ID(), backend.Write{})
		if u.judge("delete", "article", mapping.OpDelete, false, before, err) || ctx.Err() != nil || u.isOver() {
			return
		}
		u.ended(4)
	}
}

func (u *under) isOver() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.broken != nil
}

// reads reads what has changed behind a cursor.
func (u *under) reads(after *string) func(context.Context, *rand.Rand) {
	return func(ctx context.Context, _ *rand.Rand) {
		page, err := u.front.Changes(ctx, backend.ChangesQuery{Client: one, After: *after, Resources: u.model.Resources, Records: true, Limit: 20})
		before := u.phase.Load()
		if err != nil {
			if !mapping.Is(err, mapping.BackendChanged) {
				u.fail("%s: changes: %v", phaseName(before), err)
			}
			return
		}
		*after = page.Cursor
		for _, c := range page.Changes {
			switch {
			case c.Record.Resource == nil && c.Resource.Name == "article" && c.ID >= 1000 || c.Resource.Name == "turnovergroup" && c.Kind != backend.RecordDeleted:
			case c.Record.Resource == nil:
				u.fail("%s: changes: %s %d is told as %s", phaseName(before), c.Resource.Name, c.ID, c.Kind)
			default:
				if wrong := u.right(c.Record); wrong != "" {
					u.fail("%s: changes: %s", phaseName(before), wrong)
				}
			}
		}
	}
}
