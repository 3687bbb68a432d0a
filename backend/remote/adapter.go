package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// adapter is a service that speaks the frontdesk backend protocol, which
// docs/backend-protocol.md describes. Its records are those of the interface, so
// that there is nothing to convert.
type adapter struct {
	o       *core
	wire    *wire
	base    string // path that the protocol's paths are put after
	token   []byte // header line
	timeout time.Duration
	model   *mapping.Model
	about   description
	plans   map[*mapping.Resource]*adapterPlan
}

// description is what an adapter says of itself: GET /v1/model.
type description struct {
	Protocol       int                            `json:"protocol"`
	Name           string                         `json:"name"`
	Version        string                         `json:"version"`
	OwnRules       bool                           `json:"own_rules"`
	Idempotency    bool                           `json:"idempotency"`
	DescribesModel bool                           `json:"describes_model"`
	TellsClient    bool                           `json:"tells_client"`
	Filters        []string                       `json:"filters"` // beside equality
	Resources      map[string]resourceDescription `json:"resources"`
}

type resourceDescription struct {
	Operations []mapping.Scope `json:"operations"`
}

// adapterPlan is where the fields of a resource are in its records.
type adapterPlan struct {
	one   *shape // a record: one place for each field, then _version and _client
	page  *shape // a list of them
	more  int
	total int
	field []int // position of the field that each nested list is of
	owned bool  // every record names its client
}

func newAdapter(o *core) (*adapter, error) {
	source := o.Sheet.Source.Frontdesk
	w, base, err := newWire(o, source.URL, source.CAFile, source.Connections, int(source.MaxAnswer), 1)
	if err != nil {
		return nil, err
	}
	a := &adapter{o: o, wire: w, base: base, timeout: source.Timeout, model: o.Sheet.Model, plans: map[*mapping.Resource]*adapterPlan{}}
	if source.Token != "" {
		a.token = []byte("Authorization: Bearer " + string(source.Token) + "\r\n")
		if !isHeader(string(source.Token)) {
			w.pool.close()
			return nil, errors.New("source.frontdesk.token cannot stand in a header")
		}
	}
	return a, nil
}

// open asks the adapter for its model.
func (a *adapter) open(ctx context.Context) error {
	err := a.describe(ctx)
	if err != nil {
		return fmt.Errorf("ask the adapter at %s for its model: %w", a.o.Sheet.Source.Frontdesk.URL, err)
	}
	for _, r := range a.model.Resources {
		if a.plans[r], err = newAdapterPlan(r); err != nil {
			return err
		}
		a.plans[r].owned = a.about.TellsClient
	}
	return nil
}

func newAdapterPlan(r *mapping.Resource) (*adapterPlan, error) {
	p := &adapterPlan{one: newShape()}
	for i, f := range mapping.Each(r.Fields) {
		if f.Type != mapping.Array {
			p.one.addPlace(f.Name)
			continue
		}
		p.one.width++ // keeps places and fields aligned
		inner := newShape()
		for k := range f.Target().Fields {
			inner.addPlace(f.Target().Fields[k].Name)
		}
		if err := p.one.addList(f.Name, inner); err != nil {
			return nil, err
		}
		p.field = append(p.field, i)
	}
	p.one.addPlace("_version")
	p.one.addPlace("_client")
	p.page = newShape()
	if err := p.page.addList("records", p.one); err != nil {
		return nil, err
	}
	p.more, p.total = p.page.addPlace("more"), p.page.addPlace("total")
	return p, nil
}

// protocolVersion is the only one there is.
const protocolVersion = 1

func (a *adapter) describe(ctx context.Context) error {
	ans, err := a.ask(ctx, "/v1/model")
	if err != nil {
		return err
	}
	defer a.wire.release(ans)
	d := description{}
	if err := json.Unmarshal([]byte(ans.body), &d); err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if d.Protocol != protocolVersion {
		return fmt.Errorf("it speaks protocol %d; this gateway speaks %d", d.Protocol, protocolVersion)
	}
	a.model = d.narrow(a.model)
	if err := d.judge(a.model); err != nil {
		return err
	}
	a.about = d
	return nil
}

// narrow reduces the model to what the adapter offers. A resource that it does not name does
// not exist, and a field that refers to one becomes a plain number.
func (d *description) narrow(model *mapping.Model) *mapping.Model {
	to := map[string]mapping.Narrowing{}
	lacks := d.unfiltered()
	for name := range d.Resources {
		r := model.Resource(name)
		if r == nil {
			continue // of a later model
		}
		n := mapping.Narrowing{Fields: map[string]mapping.FieldNarrowing{}}
		for i := range r.Fields {
			n.Fields[r.Fields[i].Name] = mapping.FieldNarrowing{Unfiltered: lacks}
		}
		to[name] = n
	}
	return model.Narrow(to)
}

// unfiltered returns the filters other than equality that the adapter does not offer.
func (d *description) unfiltered() (lacks mapping.Operators) {
	for _, o := range mapping.AllOperators {
		if !slices.Contains(d.Filters, o.String()) {
			lacks |= mapping.OperatorsOf(o)
		}
	}
	return lacks
}

// judge judges what is said of the model's resources.
func (d *description) judge(model *mapping.Model) error {
	for _, r := range model.Resources {
		for _, op := range d.Resources[r.Name].Operations {
			if !slices.Contains(mapping.RecordOperations(), op) {
				return fmt.Errorf("resource %s: unknown operation %.20q", r.Name, op)
			}
		}
	}
	if len(model.Resources) == 0 {
		return errors.New("it offers no resource of the model")
	}
	return nil
}

func (a *adapter) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "remote", Store: a.about.Name, Version: a.about.Version, OwnRules: a.about.OwnRules, Distant: true}
}

func (a *adapter) Supports(r *mapping.Resource, op mapping.Scope) bool {
	return slices.Contains(a.about.Resources[r.Name].Operations, op)
}

func (a *adapter) Ping(ctx context.Context) error {
	ans, err := a.ask(ctx, "/v1/health")
	if err == nil {
		a.wire.release(ans)
	}
	return err
}

// ask requests the adapter's description. The caller releases the answer.
func (a *adapter) ask(ctx context.Context, path string) (*answer, error) {
	ans, err := a.call(ctx, &request{method: "GET", target: a.base + path, asked: "GET " + path, timeout: a.timeout}, auth.Client{})
	if err != nil || ans.status == http.StatusOK {
		return ans, err
	}
	defer a.wire.release(ans)
	return nil, failure(ans)
}

// call sends a request with the headers of the protocol.
func (a *adapter) call(ctx context.Context, r *request, client auth.Client) (*answer, error) {
	head := make([]byte, 0, 192)
	head = append(head, "Accept: application/json\r\n"...)
	head = append(head, a.token...)
	if len(r.body) > 0 {
		head = append(head, "Content-Type: application/json\r\n"...)
	}
	if client.ID != 0 {
		head = append(head, "Frontdesk-Client: "...)
		head = strconv.AppendInt(head, client.ID, 10)
		head = append(head, "\r\n"...)
	}
	head = a.o.aboutHeaders(ctx, head)
	timeout := r.timeout
	if d, ok := ctx.Deadline(); ok {
		timeout = min(timeout, d.Sub(a.o.Now()))
	}
	head = append(head, "Frontdesk-Timeout: "...)
	head = strconv.AppendInt(head, max(1, timeout.Milliseconds()), 10)
	head = append(head, "\r\n"...)
	r.head = append(head, r.head...)
	return a.wire.do(ctx, r)
}

func (a *adapter) recordPath(r *mapping.Resource, id int32) []byte {
	b := make([]byte, 0, len(a.base)+len(r.Name)+32)
	b = append(append(append(b, a.base...), "/v1/records/"...), r.Name...)
	if id != 0 {
		b = strconv.AppendInt(append(b, '/'), int64(id), 10)
	}
	return b
}

func (a *adapter) get(ctx context.Context, r *mapping.Resource, q backend.Query) (rec mapping.Record, _ []sheet.Raw, err error) {
	if !a.Supports(r, mapping.OpGet) {
		return mapping.Record{}, nil, backend.ErrNotFound
	}
	target := a.recordPath(r, q.ID)
	if q.Fields != nil {
		target = appendFields(append(target, '?'), r, q.Fields)
	}
	ans, err := a.call(ctx, &request{method: "GET", target: string(target), asked: "GET /v1/records/{resource}/{id}", timeout: a.timeout}, q.Client)
	if err != nil {
		return mapping.Record{}, nil, err
	}
	defer a.wire.conclude(ans, &err)
	rec, err = a.record(r, ans, http.StatusOK, mapping.OpGet, q.Client, q.ID)
	return rec, nil, err
}

func appendFields(dst []byte, r *mapping.Resource, fields []int) []byte {
	dst = append(dst, "fields="...)
	for n, i := range fields {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, r.Fields[i].Name...)
	}
	return dst
}

// record reads the record in a successful answer. It must be the record of that ID, unless it
// is new.
func (a *adapter) record(r *mapping.Resource, ans *answer, status int, op mapping.Scope, client auth.Client, id int32) (mapping.Record, error) {
	if ans.status != status {
		return mapping.Record{}, a.refused(ans, op, r)
	}
	s := a.o.scanners.json()
	defer a.o.scanners.free(s)
	plan := a.plans[r]
	row, err := s.scan(plan.one, ans.body)
	if err != nil {
		return mapping.Record{}, unexpected(err)
	}
	rec, err := plan.record(r, row, client)
	if err == nil {
		err = backend.Believe(r, rec, client, id)
	}
	return rec, err
}

func (a *adapter) List(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	if !a.Supports(r, mapping.OpList) {
		return backend.Page{}, nil
	}
	target := appendQuery(append(a.recordPath(r, 0), '?'), r, q)
	ans, err := a.call(ctx, &request{method: "GET", target: string(target), asked: "GET /v1/records/{resource}", timeout: a.timeout}, q.Client)
	if err != nil {
		return backend.Page{}, err
	}
	defer a.wire.conclude(ans, &err)
	if ans.status != http.StatusOK {
		return backend.Page{}, a.refused(ans, mapping.OpList, r)
	}
	s := a.o.scanners.json()
	defer a.o.scanners.free(s)
	plan := a.plans[r]
	top, err := s.scan(plan.page, ans.body)
	if err != nil {
		return backend.Page{}, unexpected(err)
	}
	return plan.pageOf(r, top, q)
}

func (p *adapterPlan) pageOf(r *mapping.Resource, top row, q backend.Query) (backend.Page, error) {
	records := top.lists[0]
	switch {
	case !records.there:
		return backend.Page{}, unexpected(errors.New("the answer has no records"))
	case len(records.rows) > q.Limit:
		return backend.Page{}, unexpected(fmt.Errorf("the answer has %d records where %d were asked for", len(records.rows), q.Limit))
	case top.values[p.more].Kind != sheet.RawBool, q.Total && top.values[p.total].Kind != sheet.RawInt:
		return backend.Page{}, unexpected(errors.New("the answer lacks more, or total"))
	case top.values[p.more].Int != 0 && len(records.rows) == 0:
		return backend.Page{}, unexpected(errors.New("the answer says that there are more, and has none"))
	}
	page := backend.Page{More: top.values[p.more].Int != 0, Total: top.values[p.total].Int, Records: make([]mapping.Record, 0, len(records.rows))}
	for _, row := range records.rows {
		rec, err := p.record(r, row, q.Client)
		if err == nil {
			err = backend.Believe(r, rec, q.Client, 0)
		}
		if err != nil {
			return backend.Page{}, err
		}
		if added, err := page.Add(&q, rec); err != nil || !added {
			return page, err
		}
	}
	return page, nil
}

func (a *adapter) DescribeModel(ctx context.Context, name string) ([]byte, error) {
	if !a.about.DescribesModel {
		return nil, nil
	}
	ans, err := a.call(ctx, &request{method: "GET", target: a.base + "/v1/model/" + name, asked: "GET /v1/model/{resource}", page: true, timeout: a.timeout}, auth.Client{})
	if err != nil {
		return nil, err
	}
	defer a.wire.release(ans)
	switch ans.status {
	case http.StatusOK:
		return []byte(ans.body), nil
	case http.StatusNotFound:
		return nil, nil
	default:
		return nil, failure(ans)
	}
}

func (a *adapter) pool() *pool { return a.wire.pool }

func (a *adapter) Close() error {
	if a.wire != nil { // else it can only Explain
		a.wire.pool.close()
	}
	return nil
}
