package remote

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// create stores a record, under an idempotency key where it is not "".
func (a *adapter) create(ctx context.Context, client auth.Client, rec mapping.Record, key string) (stored mapping.Record, replayed bool, err error) {
	r := rec.Resource
	if !a.Supports(r, mapping.OpCreate) {
		return mapping.Record{}, false, unexpected(fmt.Errorf("the adapter creates no %s", r.Name))
	}
	call := &request{method: "POST", target: string(a.recordPath(r, 0)), asked: "POST /v1/records/{resource}", body: appendSupplied(nil, rec), write: true, timeout: a.timeout}
	if key != "" {
		call.head = append(append(append(call.head, "Idempotency-Key: "...), key...), "\r\n"...)
	}
	ans, err := a.call(ctx, call, client)
	if err != nil {
		return mapping.Record{}, false, err
	}
	defer a.wire.conclude(ans, &err)
	replayed = string(ans.header.Peek("Idempotent-Replayed")) == "true"
	stored, err = a.record(r, ans, http.StatusCreated, mapping.OpCreate, client, 0)
	return stored, replayed, err
}

func (a *adapter) update(ctx context.Context, client auth.Client, before, patch mapping.Record, _ []sheet.Raw) (rec mapping.Record, err error) {
	// What goes back as it was read stays out: the system may have several values for it.
	r, changes := patch.Resource, before.Changes(patch)
	if changes.IsBlank() { // nothing to send: it is answered as it is now
		rec, _, err = a.get(ctx, r, backend.Query{Client: client, ID: before.ID()})
		if err == nil && before.Version != 0 && rec.Version != before.Version {
			err = fmt.Errorf("%w: it has changed since it was read", backend.ErrStale)
		}
		return rec, err
	}
	call := &request{
		method: "PATCH", target: string(a.recordPath(r, before.ID())), asked: "PATCH /v1/records/{resource}/{id}", head: ifMatch(before),
		body: appendSupplied(nil, changes), write: true, timeout: a.timeout,
	}
	ans, err := a.call(ctx, call, client)
	if err != nil {
		return mapping.Record{}, err
	}
	defer a.wire.conclude(ans, &err)
	return a.record(r, ans, http.StatusOK, mapping.OpUpdate, client, before.ID())
}

func (a *adapter) delete(ctx context.Context, client auth.Client, before mapping.Record) (err error) {
	call := &request{
		method: "DELETE", target: string(a.recordPath(before.Resource, before.ID())), asked: "DELETE /v1/records/{resource}/{id}", head: ifMatch(before),
		write: true, timeout: a.timeout,
	}
	ans, err := a.call(ctx, call, client)
	if err != nil {
		return err
	}
	defer a.wire.conclude(ans, &err)
	if ans.status != http.StatusNoContent {
		return a.refused(ans, mapping.OpDelete, before.Resource)
	}
	return nil
}

// ifMatch sends the version of the record that the rules judged, so that the adapter does not
// change a later one.
func ifMatch(before mapping.Record) []byte {
	if before.Version == 0 {
		return nil
	}
	b := append([]byte(nil), "If-Match: \""...)
	b = strconv.AppendInt(b, before.Version, 10)
	return append(b, "\"\r\n"...)
}

// appendSupplied appends the fields that are present, in model order.
func appendSupplied(dst []byte, rec mapping.Record) []byte {
	dst = append(dst, '{')
	first := true
	for i, v := range rec.Values {
		if v.IsAbsent() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		f := &rec.Resource.Fields[i]
		dst = append(append(append(dst, '"'), f.Name...), `":`...)
		if f.Type != mapping.Array {
			dst = v.AppendJSON(dst)
			continue
		}
		dst = append(dst, '[')
		for k, child := range rec.Children[i] {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendSupplied(dst, child)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendQuery appends the query of a list.
func appendQuery(dst []byte, r *mapping.Resource, q backend.Query) []byte {
	dst = strconv.AppendInt(append(dst, "limit="...), int64(q.Limit), 10)
	if q.Offset > 0 {
		dst = strconv.AppendInt(append(dst, "&offset="...), int64(q.Offset), 10)
	}
	if q.After > 0 {
		dst = strconv.AppendInt(append(dst, "&after="...), int64(q.After), 10)
	}
	if q.Total {
		dst = append(dst, "&total=1"...)
	}
	if !q.ModifiedSince.IsAbsent() {
		dst = append(append(dst, "&modified_since="...), q.ModifiedSince.String()...)
	}
	for i, o := range q.Sort {
		dst = append(dst, [...]string{"&sort=", ","}[min(i, 1)]...)
		if o.Descending {
			dst = append(dst, '-')
		}
		dst = append(dst, o.Field.Name...)
	}
	if q.Fields != nil {
		dst = appendFields(append(dst, '&'), r, q.Fields)
	}
	for _, f := range q.Filters {
		dst = append(appendEscaped(append(dst, "&filter."...), f.Op.Param(f.Field.Name)), '=')
		for i, v := range f.Operands() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendEscaped(dst, v.String())
		}
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

// appendEscaped appends text as a part of a path or a query.
func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// isHeader tells whether a text can be the value of a header.
func isHeader(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
