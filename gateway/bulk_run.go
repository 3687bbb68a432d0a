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

// bulkRun writes the records of one request. Under an idempotency key each transaction also
// stores the results of its records: after a run that was cut off, a repetition of the request
// writes only the rest.
type bulkRun struct {
	g       *Gateway
	x       *Exchange
	scopes  []mapping.Scope      // of the operation on one record
	once    *backend.Idempotency // the idempotency key of the request; nil if it has none
	results []bulkResult         // by record; without a status until the record is done
	errors  int                  // how many errors results has
	written bool                 // a record was written
	stopped error                // the failure after which no further record is tried; nil if none
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

// writeSeveral writes each record as a request of its own would, and answers their results.
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
	if retried := b.x.background && client.Capabilities().Atomic; b.stopped != nil && (retried || !b.written) {
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
	kept := append([]byte{'\n'}, answer...) // no entity tag and no Location, see answerKept
	if err := client.Keep(ctx, b.x.user().Client, b.x.Endpoint.Resource, b.once, kept); err != nil {
		b.g.logFailure(b.x, err) // a repetition makes the answer from the stored results
	}
	return nil
}

// final reports whether a repetition of the request could not change the result.
func (r *bulkResult) final() bool {
	return r.Status < http.StatusInternalServerError && (r.Errors == nil || r.Errors[0].Reason != string(mapping.IdempotencyInUse))
}

// writeAll writes the records, and sets stopped if the administration fails, or takes too long
// for a direct answer. Meanwhile the exchange has the operation on one record.
func (b *bulkRun) writeAll(ctx context.Context) error {
	whole := b.x.Operation
	b.x.Operation = whole.single
	defer func() { b.x.Operation = whole }()
	op := mapping.OpCreate
	if b.x.Method == http.MethodPut {
		op = mapping.OpUpdate
	}
	most, write := b.g.backend.Together(b.x.Endpoint.Resource, op, b.once != nil), (*bulkGroup).together
	end := func(from int) int { return b.groupEnd(from, most) }
	if most == 1 {
		write = (*bulkGroup).apart
		end = func(from int) int { return min(from+b.g.backend.Parallel(), len(b.results)) }
	}
	deadline := b.g.o.Clock().Add(b.g.backend.Timeout())
	for from, to := 0, 0; from < len(b.results) && b.stopped == nil; from = to {
		if !b.x.background && b.g.o.Clock().After(deadline) {
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

// groupEnd returns the end of the group of records that begins at from. A group has at most so many
// objects, elements of arrays included, because others wait for the locks of its transaction; a
// record with more objects is a group of its own.
func (b *bulkRun) groupEnd(from, most int) (to int) {
	objects := 0
	for to = from; to < len(b.results); to++ {
		objects += max(1, bytes.Count(b.x.several.Records[to], []byte{'{'}))
		if to > from && objects > most {
			break
		}
	}
	return to
}

// read decodes and checks record i. It returns false if that is refused, with the refusal noted.
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

// groupKey returns the idempotency key of the group that begins with record i.
func (b *bulkRun) groupKey(i int) *backend.Idempotency {
	if b.once == nil {
		return nil
	}
	return &backend.Idempotency{Key: b.once.Key + " " + strconv.Itoa(i), Sum: b.once.Sum, Life: b.once.Life}
}

// stops reports whether err is a failure of the administration, which would meet the next record, too.
func stops(err error) bool {
	_, answered := mapping.AsViolations(err)
	return !answered || mapping.Is(err, mapping.BackendUnavailable) || mapping.Is(err, mapping.BackendTimeout) || mapping.Is(err, mapping.BackendChanged)
}

// eachRecalled calls each with the results that are stored under an idempotency key.
func eachRecalled(data []byte, each func(bulkResult)) error {
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

// note adds a result to those of the run.
func (b *bulkRun) note(r bulkResult) {
	b.results[r.Index] = r
	if r.Errors == nil {
		b.written, b.x.wrote = true, append(b.x.wrote, r.ID)
	}
	b.errors += len(r.Errors)
}

// refused returns the result of a record that was not written: the errors that a request for
// it alone would get, as many as fit. reported is how many errors the answer already has.
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

// log logs an error that is answered as a failure of the server, because the answer hides its cause.
func (b *bulkRun) log(err error) {
	v, _ := mapping.AsViolations(err)
	if len(v) > 0 && b.g.catalogue.Lookup(v[0].Reason, b.scopes...).Status >= http.StatusInternalServerError {
		b.g.logFailure(b.x, err)
	}
}

// count counts the records by status in the metrics.
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
