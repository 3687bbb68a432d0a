package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// bulkRun is the work of an operation on several records. What was written under an
// idempotency key is stored with it: of a run that was cut off, the next one under the same
// key writes only the rest. Records that share a transaction share what is stored.
type bulkRun struct {
	g       *Gateway
	x       *Exchange
	scopes  []mapping.Scope      // of the operation on one record
	once    *backend.Idempotency // of the whole; nil for none
	results []bulkResult         // by record; those without a status are not done
	errors  int                  // reported so far
	written bool                 // a record was written
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

// mostErrors is how many errors of records an answer reports. The first error of each record
// is reported in any case.
const mostErrors = mapping.MaxViolations

// writeSeveral writes the records, each as its own request would, and answers what became
// of each.
func (g *Gateway) writeSeveral(ctx context.Context, x *Exchange) error {
	if err := x.writeRoom(); err != nil {
		return err
	}
	b := &bulkRun{g: g, x: x, scopes: x.Operation.single.scopes, results: make([]bulkResult, len(x.several.Records))}
	if x.idempotencyKey == "" {
		return b.run(ctx)
	}
	return g.once(x, func(whole *backend.Idempotency) error {
		b.once = whole
		if err := g.backend.Recall(ctx, x.user().Client, x.Endpoint.Resource, whole); err != nil {
			return err
		}
		return b.run(ctx)
	})
}

func (b *bulkRun) run(ctx context.Context) error {
	if err := b.writeAll(ctx); err != nil {
		return err
	}
	client := b.g.backend
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

// final reports whether a repetition would find nothing else to do.
func (r *bulkResult) final() bool {
	return r.Status < http.StatusInternalServerError && (r.Errors == nil || r.Errors[0].Reason != string(mapping.IdempotencyInUse))
}

// writeAll writes the records, with the operation on one record in force. If the
// administration fails, or it takes too long for a direct answer, the rest is not tried.
func (b *bulkRun) writeAll(ctx context.Context) error {
	whole := b.x.Operation
	b.x.Operation = whole.single
	defer func() { b.x.Operation = whole }()
	op := mapping.OpCreate
	if b.x.Method == http.MethodPut {
		op = mapping.OpUpdate
	}
	together, write := b.g.backend.Together(b.x.Endpoint.Resource, op, b.once != nil), (*bulkGroup).together
	end := func(from int) int { return b.groupFrom(from, together) }
	if together == 1 {
		write = (*bulkGroup).apart
		end = func(from int) int { return min(from+b.g.backend.Parallel(), len(b.results)) }
	}
	until := b.g.o.Clock().Add(b.g.backend.Timeout())
	for from, to := 0, 0; from < len(b.results) && b.stopped == nil; from = to {
		if !b.x.promised && b.g.o.Clock().After(until) {
			b.stopped = mapping.Fail(mapping.BackendTimeout)
			break
		}
		to = end(from)
		if err := write(b.group(ctx, from, to), ctx, from); err != nil {
			return err
		}
	}
	if b.stopped != nil {
		b.g.logFailure(b.x, b.stopped)
	}
	return nil
}

// groupFrom returns the end of a group of records with so many objects at most, elements of
// arrays included; a record that has more is a group of its own. Other requests wait while a
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

// part returns the idempotency key of the group that begins with that record.
func (b *bulkRun) part(i int) *backend.Idempotency {
	if b.once == nil {
		return nil
	}
	return &backend.Idempotency{Key: b.once.Key + " " + strconv.Itoa(i), Sum: b.once.Sum, Life: b.once.Life}
}

// stops reports whether there is no use in trying the next record after that error.
func stops(err error) bool {
	_, answered := mapping.AsViolations(err)
	return !answered || mapping.Is(err, mapping.BackendUnavailable) || mapping.Is(err, mapping.BackendTimeout) || mapping.Is(err, mapping.BackendChanged)
}

// recalled reads results that are kept under an idempotency key.
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

// done returns the result of a record that was written.
func (b *bulkRun) done(i int, id int32) bulkResult {
	status := http.StatusOK
	if b.x.Method == http.MethodPost {
		status = http.StatusCreated
	}
	return bulkResult{Index: i, Status: status, ID: id}
}

// note records a result.
func (b *bulkRun) note(r bulkResult) {
	b.results[r.Index] = r
	if r.Errors == nil {
		b.written, b.x.wrote = true, append(b.x.wrote, r.ID)
	}
	b.errors += len(r.Errors)
}

// refused returns the result of a record that was not written, in the words of the operation on
// that record alone. reported is how many errors the answer has already.
func (b *bulkRun) refused(i int, err error, reported int) bulkResult {
	v := violationsOf(err)
	b.x.noteFields(v)
	r := bulkResult{Index: i}
	for n, e := range v[:max(1, min(len(v), mostErrors-reported))] {
		row := b.g.catalogue.Lookup(e.Reason, b.scopes...)
		if n == 0 {
			r.Status = row.Status
		}
		r.Errors = append(r.Errors, bulkError{Message: row.Text(e), Reason: string(e.Reason), Field: row.FieldOf(e)})
	}
	return r
}

// log logs the cause of a failure, which the answer does not show.
func (b *bulkRun) log(err error) {
	v, _ := mapping.AsViolations(err)
	if len(v) > 0 && b.g.catalogue.Lookup(v[0].Reason, b.scopes...).Status >= http.StatusInternalServerError {
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
