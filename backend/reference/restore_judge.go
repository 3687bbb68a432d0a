package reference

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/auth"
	"frontdesk/backend/backupzip"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// judge reads a backup before anything is changed: every line must be a record
// of the model, and whatever it refers to must be in the file too, or a system
// record.
type judge struct {
	backup  *backupFile
	model   *mapping.Model
	rows    *mapping.Catalogue
	options RestoreOptions
	ordered []*backupPart             // referenced parts first, as far as there is such an order
	rank    map[*mapping.Resource]int // its place in that order
	system  map[*mapping.Resource][]int32
	open    []openReference
	done    int64
	again   []byte // a line, exported again

	order    *mapping.Resource
	numbered map[*mapping.Resource][]*mapping.Field
	highest  map[string]int64 // number of each counter
}

// openReference is a reference to a record of the same or a later part. Only models with
// circular references have many of them.
type openReference struct {
	part   *backupPart
	line   int64
	field  *mapping.Field
	target *mapping.Resource
	id     int32
}

func newJudge(b *backupFile, s *Store, o RestoreOptions) *judge {
	return &judge{
		backup: b, model: s.model, rows: mapping.NewCatalogue(), options: o, rank: map[*mapping.Resource]int{}, system: map[*mapping.Resource][]int32{},
		order: s.derived.order, numbered: s.derived.numbered, highest: map[string]int64{},
	}
}

func (j *judge) readSystemIDs(ctx context.Context, s *Store) error {
	return s.db.Read(ctx, func(conn sqlrecord.Conn) error {
		for _, r := range s.model.Resources {
			if !r.SystemRecords {
				continue
			}
			err := s.records.On(conn).Each(ctx, auth.Client{}, r, func(rec mapping.Record) error {
				j.system[r] = append(j.system[r], rec.ID())
				return nil
			})
			if err != nil {
				return fmt.Errorf("read the system records of %s: %w", r.Name, err)
			}
		}
		return nil
	})
}

func (j *judge) isSystem(r *mapping.Resource, id int32) bool {
	_, found := slices.BinarySearch(j.system[r], id)
	return found
}

func (j *judge) progress(n int64) {
	if j.done += n; j.done%progressEvery == 0 || j.done == 2*j.backup.manifest.Records() {
		j.options.Progress(j.done, 2*j.backup.manifest.Records())
	}
}

func (j *judge) run(ctx context.Context) error {
	j.arrange()
	for _, p := range j.ordered {
		err := p.lines(ctx, j.options.MaxLine, func(n int64, line []byte) error {
			rec, err := j.decode(p, n, line)
			if err != nil {
				return err
			}
			return j.record(p, n, rec)
		})
		if err != nil {
			return err
		}
	}
	for _, o := range j.open {
		if !j.holds(o.target, o.id) {
			return o.part.unresolved(o.line, o.field, o.target, o.id)
		}
	}
	j.open = nil
	return nil
}

// arrange orders the parts so that referenced records come before the records that refer
// to them.
func (j *judge) arrange() {
	seen := map[*mapping.Resource]bool{}
	var visit func(r *mapping.Resource)
	visit = func(r *mapping.Resource) {
		if seen[r] {
			return
		}
		seen[r] = true
		for i := range r.Fields {
			switch f := &r.Fields[i]; {
			case f.Reference != "":
				visit(f.Target())
			case f.ReferenceBy != "":
				for _, target := range j.model.Resources {
					visit(target)
				}
			}
		}
		j.rank[r] = len(j.rank)
		if p := j.backup.parts[r]; p != nil {
			j.ordered = append(j.ordered, p)
		}
	}
	for _, r := range j.model.Resources {
		visit(r)
	}
}

// decode reads a line, which must be byte for byte as Export writes it: so no value
// is changed by being read, and no field is missing.
func (j *judge) decode(p *backupPart, n int64, line []byte) (mapping.Record, error) {
	at := bytes.LastIndex(line, []byte(backupzip.VersionMember))
	if at < 0 || line[len(line)-1] != '}' {
		return mapping.Record{}, p.refuse(n, "it is no record of a backup: it does not end in row_version")
	}
	version, err := strconv.ParseInt(string(line[at+len(backupzip.VersionMember):len(line)-1]), 10, 64)
	if err != nil || version < 1 {
		return mapping.Record{}, p.refuse(n, "row_version is no number from 1")
	}
	line[at] = '}'
	object := line[:at+1]
	body, err := mapping.DecodeBody(p.resource, object, time.UTC)
	if err != nil {
		return mapping.Record{}, p.refuse(n, "it is no JSON object: %v", err)
	}
	if len(body.Violations) > 0 {
		return mapping.Record{}, p.refuse(n, "%s", j.word(body.Violations[0]))
	}
	if p.fields == nil {
		if p.fields, err = j.fieldsOf(p, n, object); err != nil {
			return mapping.Record{}, err
		}
	}
	rec := body.Record
	rec.Version = version
	if j.again = rec.AppendJSON(j.again[:0], p.fields); !bytes.Equal(j.again, object) {
		return rec, p.refuse(n, "it is not written as frontdesk writes records: a field is missing, in another place, or has a value that would be changed")
	}
	if cap(j.again) > largeLine {
		j.again = nil
	}
	for _, i := range p.resource.RecordFields() {
		if rec.Values[i].IsAbsent() { // the field is newer than the backup: null, as in older records
			rec.Values[i] = mapping.NullValue()
		}
	}
	return rec, nil
}

// word describes the fault of a record in the words of the interface.
func (j *judge) word(e *mapping.Error) string {
	return j.rows.Lookup(e.Reason, mapping.OpUpdate).Word(e.Args)
}

// fieldsOf finds the order of the fields in the first line of a part. If the model
// has changed since the backup, newer fields may be missing.
func (j *judge) fieldsOf(p *backupPart, n int64, object []byte) ([]int, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	var fields []int
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		fields = append(fields, p.resource.Field(name.String()).Index)
		err = d.SkipValue()
	}
	if err != nil && err != io.EOF {
		return nil, p.refuse(n, "%v", err)
	}
	r := p.resource
	sameModel := j.backup.manifest.ModelVersion == j.model.Version
	for _, i := range r.RecordFields() {
		always := i == r.ID || i == r.IsSystem || i == r.IsBlocked || i == r.IsArchived || i == r.CreatedAt || i == r.ModifiedAt
		if (always || sameModel) && !slices.Contains(fields, i) {
			return nil, p.refuse(n, "field %s is missing", r.Fields[i].Name)
		}
	}
	return fields, nil
}

// record judges a record and notes its ID.
func (j *judge) record(p *backupPart, n int64, rec mapping.Record) error {
	if err := j.hidden(p, n, rec); err != nil {
		return err
	}
	if err := j.values(p, n, rec); err != nil {
		return err
	}
	p.ids = append(p.ids, rec.ID())
	if err := j.references(p, n, rec); err != nil {
		return err
	}
	for _, f := range j.numbered[p.resource] {
		j.number(p.resource.Name+"."+f.Name, f.Numbering, rec.Values[f.Index])
	}
	if p.resource == j.order {
		j.number(invoiceCounter, invoiceFormat, rec.Get("invoice_number"))
	}
	j.progress(1)
	return nil
}

func (j *judge) number(counter, format string, v mapping.Value) {
	if n := numberIn(format, v.Text()); n > j.highest[counter] {
		j.highest[counter] = n
	}
}

// hidden judges the values that the administration itself keeps in every record.
func (j *judge) hidden(p *backupPart, n int64, rec mapping.Record) error {
	r := p.resource
	id := rec.ID()
	flag := func(i int) bool { v := rec.Values[i]; return v.IsSet() && (v.Int() == 0 || v.Int() == 1) }
	switch {
	case id < 1:
		return p.refuse(n, "its id is %d", id)
	case len(p.ids) > 0 && id <= p.ids[len(p.ids)-1]:
		return p.refuse(n, "its id %d does not come after the one before, %d", id, p.ids[len(p.ids)-1])
	case systemData[r.Name] != "" && id <= systemIDs:
		return p.refuse(n, "its id %d is kept free for system records", id)
	case !flag(r.IsBlocked) || !flag(r.IsArchived):
		return p.refuse(n, "is_blocked and is_archived must be 0 or 1")
	case !rec.Values[r.IsSystem].IsSet() || rec.Flag(r.IsSystem):
		return p.refuse(n, "it is a system record")
	case !rec.Values[r.CreatedAt].IsSet() || !rec.Values[r.ModifiedAt].IsSet():
		return p.refuse(n, "it lacks created_at or modified_at")
	}
	return nil
}

// values judges the fields by the model. Lengths are checked even with Legacy, since
// the database relies on them.
func (j *judge) values(p *backupPart, n int64, rec mapping.Record) error {
	own := mapping.Record{Resource: rec.Resource, Values: slices.Clone(rec.Values)}
	for i := range p.resource.Fields {
		f := &p.resource.Fields[i]
		if f.Length > 0 && utf8.RuneCountInString(rec.Values[i].Text()) > f.Length {
			return p.refuse(n, "%s is longer than %d characters", f.Name, f.Length)
		}
		if f.Readonly || f.Primary {
			own.Values[i] = mapping.Value{}
		}
	}
	if j.options.Legacy {
		return nil
	}
	found := append(mapping.BodyOf(own).CheckUpdate(), mapping.BodyOf(rec).CheckMerged(rec)...)
	if len(found) > 0 {
		return p.refuse(n, "the model does not allow it: %s", j.word(found[0])).as(ErrLegacyRecord)
	}
	return nil
}

func (j *judge) references(p *backupPart, n int64, rec mapping.Record) error {
	for i := range p.resource.Fields {
		f := &p.resource.Fields[i]
		target := f.Target()
		if f.ReferenceBy != "" {
			target = j.model.Resource(rec.Get(f.ReferenceBy).Text())
		}
		v := rec.Values[i]
		if f.Type == mapping.Array || f.Reference == "" && f.ReferenceBy == "" || !v.IsSet() {
			continue
		}
		id := int32(v.Int())
		switch {
		case target == nil:
			return p.refuse(n, "%s refers to a record of %q, which is no resource", f.Name, rec.Get(f.ReferenceBy).Text())
		case j.holds(target, id):
		case j.rank[target] >= j.rank[p.resource]:
			j.open = append(j.open, openReference{p, n, f, target, id})
		default:
			return p.unresolved(n, f, target, id)
		}
	}
	return nil
}

// holds reports whether a record is in the part of the file read so far, or is a system
// record.
func (j *judge) holds(r *mapping.Resource, id int32) bool {
	if p := j.backup.parts[r]; p != nil {
		if _, found := slices.BinarySearch(p.ids, id); found {
			return true
		}
	}
	return j.isSystem(r, id)
}

func (p *backupPart) unresolved(line int64, f *mapping.Field, target *mapping.Resource, id int32) error {
	return p.refuse(line, "%s refers to %s %d, which is neither in the backup nor a system record", f.Name, target.Name, id)
}
