package check

import (
	"cmp"
	"fmt"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// claim is something that the sheet says of all records, named for what a record is that violates
// it.
type claim string

// The claims about the records of any system.
const (
	unshown  claim = "unshown"  // the interface cannot show the value
	unlisted claim = "unlisted" // a code that the list does not have
	empty    claim = "empty"    // a required field has no value
	undated  claim = "undated"  // the record has no time of change
	tooLong  claim = "too long" // a text is longer than the field
	nowhere  claim = "nowhere"  // a reference leads to no record of the client
	nobodys  claim = "nobody's" // no user has the record's client
	altered  claim = "altered"  // writing back what is read would change it
	twice    claim = "twice"    // values that several records of a client have, where one may
)

// The claims about databases only.
const (
	rounded   claim = "rounded"   // a number has more decimals than are shown
	missed    claim = "missed"    // a filter by the value does not find the row
	unordered claim = "unordered" // the column does not sort as the values do
	keyless   claim = "keyless"   // the key is null
	unproved  claim = "unproved"  // the database cannot evaluate the claim
)

// The claims about services only.
const (
	missing      claim = "missing"       // no record has the place
	valueless    claim = "valueless"     // jq yields null for all records
	ownerless    claim = "unsaid"        // the record does not name its client
	others       claim = "others"        // the list of a client has records of another
	again        claim = "again"         // the key came before
	atOnce       claim = "at once"       // a list without pages may not be whole
	getFails     claim = "get fails"     // a record of the list cannot be read by itself
	getDiffers   claim = "get differs"   // or differs from the list
	listLacks    claim = "list lacks"    // the list has no value where the record by itself has one
	sinceFails   claim = "since fails"   // polling for changes fails
	sinceMisses  claim = "since misses"  // the answer lacks a changed record
	sinceIgnored claim = "since ignored" // or has unchanged records
)

// found is how many records a claim does not hold for. No value of a record is in it.
type found struct {
	what        claim
	at          string // a field, or a key of the sheet
	records, of int
	err         error // the first, which may quote a value; nil for none
}

// placeOf is the place of findings about a field.
func placeOf(f *mapping.Field) string {
	if f.Primary {
		return "key"
	}
	return f.Name
}

// verdict is the wording of a finding. {field} stands for the name of the field, {place} for its place
// in the system, {all} for the number of records, {why} for the first error.
type verdict struct {
	severity         Severity
	rule, seen, cure string
}

const (
	nobodySees = "nobody sees them: mend the records, or name another place"
	backwards  = "have write be the reverse of read for these too, or say under zero what stands for none"
	leftOutOf  = ", and are left out of lists"
)

var verdicts = map[claim]verdict{
	unshown:   {Error, "data.unfit", "have a {field} that the interface cannot show" + leftOutOf + "{why}", "mend read or type of the field, list under zero what stands for none, or mend the records"},
	unlisted:  {Error, "data.unknown-code", "have at {place} what the codes of {field} do not list" + leftOutOf, `list it under codes, or say unknown: "null"; the system shows the codes, as SELECT {place}, COUNT(*) … GROUP BY {place} does`},
	empty:     {Warning, "data.null", "have no {field}, which the interface requires: clients see none", "name the place that has it, mend the records, or have read say what is shown in its place"},
	undated:   {Warning, "data.undated", "have no {field}, and lists by modified_since never have them", "name a place that every record has, or read another instead: COALESCE(…)"},
	tooLong:   {Note, "data.long", "have a longer {field} than the interface takes", "clients read it whole, but cannot write it back"},
	nowhere:   {Warning, "data.reference", "have a {field} that leads to no record which their client sees", "clients are told of records that are not there: mend them, or list what stands for none under zero"},
	nobodys:   {Warning, "data.nobody", "belong to no client that a user works for", nobodySees},
	twice:     {Warning, "data.duplicate", "value(s) of {field} stand in more than one record of a client", "the interface promises one: mend the rows"},
	rounded:   {Warning, "data.scale", "have a {field} with more decimals than are shown", "clients read it rounded; where that is not meant, name another column"},
	altered:   {Warning, "data.altered", "would not be as they are if the {field} that clients read were written back", backwards},
	missed:    {Error, "data.missed", "are not found by a filter by the {field} that they show", "have write give what the column has, to the type, or say a find that holds for them"},
	unordered: {Error, "data.unordered", "stand elsewhere by their column than by {field}: ranges and orders by it are wrong", "take ordered: true out"},
	keyless:   {Error, "data.keyless", "have no key" + leftOutOf, "name another key, or leave them out by where"},
	unproved:  {Error, "data.unproved", "were to be asked for, and the database fails{why}", "mend the SQL, or the rows that it fails by"},

	missing:      {Warning, "http.path-missing", "were looked at, and {place} is in none of them", "name the path that the service has, or leave the field out"},
	valueless:    {Note, "http.valueless", "were looked at, and the jq of {field} yields null for all", "see that it names what the service has"},
	ownerless:    {Warning, "http.client-missing", "do not say whose they are, and are nobody's{why}", "name the path that tells whose a record is, or have the service answer it"},
	others:       {Note, "http.others", "in the list of a client are another's, and are read past", "have the service leave them out: walks cost as much as all that it answers"},
	again:        {Error, "http.twice", "came before with the same key", "name the whole key, as with _parent.id of what stands within other records; or have the service keep an order while its pages are read"},
	atOnce:       {Warning, "http.paging", "came at once, and no page is asked for: so many are often not all", "say under walk.paging how pages are asked for, or leave it where these are all"},
	getFails:     {Error, "http.get", "of the list cannot be read by get{why}", "mend get, or have it answer the client as the list does"},
	getDiffers:   {Error, "http.get-differs", "that were read by get have another {field} there than in the list", "have both answer the same, or say what they show in jq"},
	listLacks:    {Error, "http.list-lacks", "have {field} by get, and none in the list: lists show null, and a filter by it finds nothing", "have the list answer it"},
	sinceFails:   {Error, "http.since", "came, and what has changed cannot be asked for{why}", "mend walk.since as the message says: lists fail"},
	sinceMisses:  {Error, "http.since", "changed last, and is not among what has changed since: clients are not told what changes", "mend what since sends, or type and time_zone of modified_at"},
	sinceIgnored: {Warning, "http.since", "are told that have not changed since the moment that is sent: every list costs a walk", "see how the service takes the moment, or leave since out"},
}

// report adds a finding about a resource to the report.
func (r *Report) report(of *sheet.Resource, f found) {
	v, path := verdicts[f.what], strictyaml.Child("resources", of.Name)
	at, place, field := r.at(path, strings.Split(f.at, ".")...), strings.Join(of.Key.Places, ", "), of.Resource.Field(f.at)
	switch {
	case f.at == "client" || f.at == "key":
		at = strictyaml.Child(path, f.at)
	case f.at == "version":
		place = of.Service.Version.String()
	case field != nil:
		at, place = ofField(of.Name, f.at), strings.Join(placesOf(of, field.Index), ", ")
	}
	isAll := f.records == f.of
	switch {
	case f.what == unlisted && of.SQL != nil && of.SQL.Fields[field.Index].UnknownIsNull:
		v.severity, v.seen = Note, "have at {place} what the codes of {field} do not list, and show null"
	case f.what == unshown && f.at == "key":
		v.cure = "say id: kept"
	case f.what == twice && f.at == "key":
		v.severity, v.cure = Error, "name the columns that tell the rows apart"
	case f.what == missing && (field == nil || field.Required), (f.what == ownerless || f.what == others) && isAll:
		v.severity = Error
	case f.what == nowhere && isAll:
		v.severity, v.cure = Error, "name the place of the "+cmp.Or(field.Reference, "record")+", or leave the field out"
	}
	why := ""
	if f.err != nil {
		why = ": " + hidden(f.err)
	}
	words := strings.NewReplacer("{field}", f.at, "{place}", place, "{why}", why)
	seen := fmt.Sprintf("%d of %d record(s) %s", f.records, f.of, words.Replace(v.seen))
	if f.what == twice {
		seen = fmt.Sprintf("%d %s", f.records, words.Replace(v.seen))
	}
	r.add(v.severity, v.rule, at, seen, words.Replace(v.cure))
}

// placesOf are the columns, or the place in answers, of a field.
func placesOf(r *sheet.Resource, i int) []string {
	if r.Service == nil {
		return r.SQL.Fields[i].Names
	}
	if read := r.Service.Fields[i].Read; !read.IsZero() {
		return []string{read.String()}
	}
	return nil
}

// at is a place of the sheet, or the closest one around it that the sheet has.
func (r *Report) at(path string, keys ...string) string {
	if full := strictyaml.Child(path, keys...); r.doc.Has(full) {
		return full
	}
	return path
}
