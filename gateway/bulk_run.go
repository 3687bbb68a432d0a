package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// bulkRun is the work of an operation on several records. What was written under an
// idempotency key is stored with it: of a run that was cut off, the next one under the same
// key writes only the rest. Records that share a transaction share what is stored.
type bulkRun struct {
	g       *Gateway
	x       *Exchange
	once    *backend.Idempotency // of the whole; nil for none
	results []bulkResult         // by record; those without a status are not done
	errors  int                  // told so far
	written bool                 // something was
	stopped error                // why the rest is not tried
}

// bulkResult is what became of a record.
type bulkResult struct {
	Index  int         `json:"index" doc:"The place of the record in the request, from 0." example:"0"`
	Status int         `json:"status" doc:"What a request for this record alone would be answered with: 201 or 200, or that of its first error." example:"201"`
	ID     int32       `json:"id,omitempty" doc:"Primary ID of the record that was written." example:"7"`
	Errors []bulkError `json:"errors,omitempty" doc:"Why it was not written."`
}

type bulkError struct {
	Message string `json:"message" doc:"The documented text." example:"Field: colour not found in model"`
	Reason  string `json:"reason" doc:"A stable code to decide by." example:"field_not_in_model"`
	Field   string `json:"field,omitempty" doc:"The field that is meant." example:"colour"`
}

// mostErrors is how many errors of records an answer tells. Only the first of each record is
// always told.
const mostErrors = mapping.MaxViolations

// writeSeveral writes the records, each as its own request would, and answers what became
// of each.
func (g *Gateway) writeSeveral(ctx context.Context, x *Exchange) error {
	if err := x.writeRoom(); err != nil {
		return err
	}
	b := &bulkRun{g: g, x: x, results: make([]bulkResult, len(x.several.Records))}
	if x.idempotencyKey == "" {
		return b.run(ctx)
	}
	return g.once(x, func(whole *backend.Idempotency) error {
		b.once = whole
		if err := g.o.Backend.Recall(ctx, x.user().Client, x.Endpoint.Resource, whole); err != nil {
			return err
		}
		return b.run(ctx)
	})
}

func (b *bulkRun) run(ctx context.Context) error {
	if err := b.writeAll(ctx); err != nil {
		return err
	}
	client := b.g.o.Backend
	if again := b.x.promised && client.Capabilities().Atomic; b.stopped != nil && (again || !b.written) {
		return b.stopped
	}
	final := true
	for i := range b.results {
		if b.results[i].Status == 0 {
			b.note(b.refused(i, b.stopped, b.errors))
		}
		final = final && b.results[i].final()
	}
	b.count()
	b.x.answerJSON(b.results)
	answer := b.x.response.Body()
	b.x.mustHave(len(answer))
	if b.once == nil || !final {
		return nil
	}
	if err := client.Keep(ctx, b.x.user().Client, b.x.Endpoint.Resource, b.once, append([]byte{'\n'}, answer...)); err != nil {
		b.g.logFailure(b.x, err) // a repetition puts the answer together from those of the records
	}
	return nil
}

// final tells whether a repetition would find nothing else to do.
func (r *bulkResult) final() bool {
	return r.Status < http.StatusInternalServerError && (r.Errors == nil || r.Errors[0].Reason != string(mapping.IdempotencyInUse))
}

// writeAll does what is to be done, as the operation on one record. If the administration
// fails, or it takes too long for a direct answer, the rest is not tried.
func (b *bulkRun) writeAll(ctx context.Context) error {
	whole := b.x.Operation
	b.x.Operation = whole.single
	defer func() { b.x.Operation = whole }()
	op := mapping.OpCreate
	if b.x.Method == http.MethodPut {
		op = mapping.OpUpdate
	}
	together, write := b.g.o.Backend.Together(b.x.Endpoint.Resource, op, b.once != nil), b.writeTogether
	end := func(from int) int { return b.groupFrom(from, together) }
	if together == 1 {
		write = b.writeApart
		end = func(from int) int { return min(from+b.g.o.Backend.Parallel(), len(b.results)) }
	}
	until := b.g.o.Clock().Add(b.g.o.Backend.Timeout())
	for from, to := 0, 0; from < len(b.results) && b.stopped == nil; from = to {
		if !b.x.promised && b.g.o.Clock().After(until) {
			b.stopped = mapping.Fail(mapping.BackendTimeout)
			break
		}
		to = end(from)
		if err := write(ctx, from, to); err != nil {
			return err
		}
	}
	if b.stopped != nil {
		b.g.logFailure(b.x, b.stopped)
	}
	return nil
}

// groupFrom is the end of a group of records with so many objects at most, elements of
// arrays among them; a record that has more is a group alone. Others wait as long as a
// group is written.
func (b *bulkRun) groupFrom(from, most int) (to int) {
	objects := 0
	for to = from; to < len(b.results); to++ {
		objects += max(1, bytes.Count(b.x.several.Records[to], []byte{'{'}))
		if to > from && objects > most {
			break
		}
	}
	return to
}

// read judges a record alone; false if it is refused.
func (b *bulkRun) read(ctx context.Context, i int) bool {
	b.x.ID = 0
	err := b.g.decode(b.x, b.x.several.Records[i])
	if err == nil {
		err = b.g.record(ctx, b.x)
	}
	if err != nil {
		b.note(b.refused(i, err, b.errors))
	}
	return err == nil
}

// part is the key of what is stored from that record on.
func (b *bulkRun) part(i int) *backend.Idempotency {
	if b.once == nil {
		return nil
	}
	return &backend.Idempotency{Key: b.once.Key + " " + strconv.Itoa(i), Sum: b.once.Sum, Life: b.once.Life}
}

// apartWrite is a write that has a transaction of its own.
type apartWrite struct {
	place int // among the records
	body  *mapping.Body
	id    int32 // 0 for a new record
	w     backend.Write
	rec   mapping.Record
	err   error
}

// writeApart does writes that have a transaction each, some at the same time if the
// administration allows it. Writes of one record are done one after the other.
func (b *bulkRun) writeApart(ctx context.Context, from, to int) error {
	var abreast []*apartWrite
	for i := from; i < to; i++ {
		if !b.read(ctx, i) {
			continue
		}
		a := b.apart(i)
		if a.id != 0 && slices.ContainsFunc(abreast, func(o *apartWrite) bool { return o.id == a.id }) {
			if err := b.writeAbreast(ctx, abreast); err != nil || b.stopped != nil {
				return err
			}
			abreast = nil
		}
		abreast = append(abreast, a)
	}
	return b.writeAbreast(ctx, abreast)
}

// apart is the write of the record that was read last.
func (b *bulkRun) apart(i int) *apartWrite {
	a := &apartWrite{place: i, body: b.x.Body, id: b.x.ID, w: backend.Write{Idempotency: b.part(i)}}
	if a.w.Idempotency != nil {
		a.w.Idempotency.Answer = func(rec mapping.Record) []byte { return stored([]bulkResult{b.done(i, rec.ID())}) }
	}
	return a
}

// writeAbreast does writes at the same time, and notes their results in order.
func (b *bulkRun) writeAbreast(ctx context.Context, writes []*apartWrite) error {
	do := func(a *apartWrite) {
		defer func() {
			if p := recover(); p != nil {
				a.err = panicked(p)
			}
		}()
		if client := b.x.user().Client; a.id == 0 {
			a.rec, a.err = b.g.o.Backend.Create(ctx, client, a.body, a.w)
		} else {
			a.rec, a.err = b.g.o.Backend.Update(ctx, client, a.id, a.body, a.w)
		}
	}
	var others sync.WaitGroup
	for n, a := range writes {
		if n > 0 {
			others.Go(func() { do(a) })
		}
	}
	if len(writes) > 0 {
		do(writes[0])
	}
	others.Wait()
	for _, a := range writes {
		if err := b.settle(a); err != nil {
			return err
		}
	}
	return nil
}

// settle notes what became of a write.
func (b *bulkRun) settle(a *apartWrite) error {
	replay := (*backend.Replay)(nil)
	switch {
	case a.err == nil:
		b.note(b.done(a.place, a.rec.ID()))
	case errors.As(a.err, &replay):
		return recalled(replay.Answer, b.note)
	case mapping.Is(a.err, mapping.IdempotencyReused):
		return a.err
	case stops(a.err):
		b.stopped = a.err
	default:
		b.note(b.refused(a.place, a.err, b.errors))
		b.log(a.err)
	}
	return nil
}

// stops tells whether there is no use in trying the next record after that error.
func stops(err error) bool {
	_, answered := mapping.AsViolations(err)
	return !answered || mapping.Is(err, mapping.BackendUnavailable) || mapping.Is(err, mapping.BackendTimeout)
}

// stored is what is kept of results under an idempotency key, and recalled reads it.
func stored(results []bulkResult) []byte {
	data, err := json.Marshal(results)
	if err != nil {
		panic(err) // a value of ours that is no JSON
	}
	return data
}

func recalled(data []byte, each func(bulkResult)) error {
	var results []bulkResult
	if err := json.Unmarshal(data, &results); err != nil {
		return err
	}
	for _, r := range results {
		each(r)
	}
	return nil
}

// done is the result of a record that was written.
func (b *bulkRun) done(i int, id int32) bulkResult {
	status := http.StatusOK
	if b.x.Method == http.MethodPost {
		status = http.StatusCreated
	}
	return bulkResult{Index: i, Status: status, ID: id}
}

// note takes down a result.
func (b *bulkRun) note(r bulkResult) {
	if r.Index < 0 || r.Index >= len(b.results) {
		return
	}
	b.results[r.Index] = r
	b.written = b.written || r.Errors == nil
	b.errors += len(r.Errors)
}

// refused is the result of a record that was not written, in the words of the operation on
// that record alone. told is how many errors are told before.
func (b *bulkRun) refused(i int, err error, told int) bulkResult {
	v, ok := mapping.AsViolations(err)
	if !ok || len(v) == 0 {
		v = mapping.Violations{mapping.Fail(mapping.InternalError)}
	}
	r := bulkResult{Index: i}
	for n, e := range v[:max(1, min(len(v), mostErrors-told))] {
		row := b.g.catalogue.Lookup(e.Reason, b.scopes()...)
		if n == 0 {
			r.Status = row.Status
		}
		r.Errors = append(r.Errors, bulkError{Message: row.Text(e), Reason: string(e.Reason), Field: row.FieldOf(e)})
	}
	return r
}

// scopes are those of the operation on one record, also once all are done.
func (b *bulkRun) scopes() []mapping.Scope {
	if single := b.x.Operation.single; single != nil {
		return single.scopes
	}
	return b.x.scopes()
}

// log logs the cause of a failure, which the client is not told.
func (b *bulkRun) log(err error) {
	v, _ := mapping.AsViolations(err)
	if len(v) > 0 && b.g.catalogue.Lookup(v[0].Reason, b.scopes()...).Status >= http.StatusInternalServerError {
		b.g.logFailure(b.x, err)
	}
}

// count counts the records by their status.
func (b *bulkRun) count() {
	if b.g.o.Meter == nil {
		return
	}
	byStatus := map[int]int{}
	for i := range b.results {
		byStatus[b.results[i].Status]++
	}
	for status, n := range byStatus {
		b.g.o.Meter.Wrote(b.x.Operation.Method, b.x.Operation.Template, status, n)
	}
}
