package sheet

import (
	"strings"

	"frontdesk/mapping"
)

// fields returns what the sheet says about each field.
func (d *httpDraft) fields() map[string]fieldSpec {
	all := map[string]fieldSpec{}
	for name, f := range d.file.Fields {
		all[name] = fieldSpec{
			conversionFile: &f.conversionFile, Conversion: &d.places[name].Conversion, isWritten: f.Write != nil,
			sources: given(choice{"path", f.Path != nil}, choice{"read", f.Read != nil}),
		}
	}
	return all
}

// array compiles the place of the elements of an array.
func (d *httpDraft) array(f *Field) {
	at := d.file.Fields[f.Name]
	d.places[f.Name].Elements = Spot{at.Path, at.Read}
}

// judgeKeys reports keys of a field that exclude each other.
func (d *httpDraft) judgeKeys(f *Field) {
	ff, fault := d.file.Fields[f.Name], d.faults(f.Name)
	byJQ := ff.Read != nil || ff.Write != nil
	for _, key := range given(choice{"codes", ff.Codes.given()}, choice{"zero", len(ff.Zero) > 0}, choice{"empty", ff.Empty != ""}, choice{"type", ff.Type != ""}, choice{"time_zone", ff.TimeZone.Location != nil && ff.Type == ""}) {
		fault(key, byJQ && ff.Path != nil, "found with jq, which says itself what is read and written: expected one of them")
	}
	fault("read", ff.Path != nil && ff.Read != nil && ff.Write == nil && !ff.Readonly, "found with a path that is written as it is: expected write too, which undoes it, or readonly: true")
}

// field compiles how a field is read and written.
func (d *httpDraft) field(f *Field, _ *mapping.FieldNarrowing) {
	ff, out := d.file.Fields[f.Name], d.places[f.Name]
	out.Path = ff.Path
	out.Read = Spot{Path: out.Path}
	if ff.Read != nil {
		out.Read = Spot{JQ: d.guarded(out.Path, ff.Read, "if (try (getpath($parent) | has($last)) catch false) then if getpath($path) == null then null else (", "\n) end else empty end")}
	}
	out.Write = d.guarded(out.Path, ff.Write, "if . == null then null else (", "\n) end")
	out.Writable = !ff.Readonly && (ff.Path != nil || ff.Write != nil)
	f.writable = out.Writable
	if f.Target == nil && f.Reference == "" {
		return
	}
	if target := ofService(d.draftOf(f.Reference)); target != nil && len(target.out.Key) > 1 && ff.Read == nil {
		d.fail(d.fieldAt(f.Name), "found one path of the key of %s, which has %d parts: expected read: '[.…, .…]' of all of them, and write that undoes it", f.Reference, len(target.out.Key))
	}
	if f.Target != nil && ff.Codes.given() {
		d.fail(d.fieldAt(f.Name, "codes"), "%s refers to records whose IDs are kept, expected no conversions", f.Name)
	}
}

// guarded wraps jq for a field with a path, so that the program does not run for null or an absent member:
// null stays null, and absent stays absent.
func (d *httpDraft) guarded(path Path, q *JQ, before, after string) *JQ {
	if path == nil || q == nil || q.code == nil {
		return q
	}
	text := strings.NewReplacer("$parent", shownJSON(path[:len(path)-1].steps()), "$last", shownJSON(path[len(path)-1]), "$path", shownJSON(path.steps())).Replace(before) + q.text + after
	guarded, err := NewJQ(d.http.definitions, text)
	if err != nil {
		return q
	}
	guarded.text, guarded.at = q.text, q.at
	return guarded
}

// steps returns the path as an input for jq.
func (p Path) steps() []any {
	all := make([]any, len(p))
	for i, step := range p {
		all[i] = step
	}
	return all
}
