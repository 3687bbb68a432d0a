package sheet

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
)

// paging compiles how a list is paged and counted.
func (d *draft) paging(path string, of *operationFile, out *Operation, c callContext) {
	out.Paging = Paging{Style: "none"}
	if f := of.Paging; f != nil {
		at := strictyaml.Child(path, "paging")
		if f.Style == "" {
			d.fail(at, "style is missing, expected %s", strictyaml.OneOf(strictyaml.Words[pagingFile]("style")))
		}
		out.Paging = Paging{
			Style: f.Style, Next: f.Next, First: 1,
			Size:    d.count(strictyaml.Child(at, "size"), f.Size, 100),
			Cursors: d.count(strictyaml.Child(at, "cursors"), f.Cursors, 10_000),
		}
		if f.First != nil {
			out.Paging.First = *f.First
		}
		if needed := map[string]string{"offset": "offset", "page": "page", "cursor": "cursor"}[f.Style]; needed != "" && !out.Request.uses[needed] {
			d.fail(at, "found style %s, but no {%s} in the request, expected it where the service takes it", f.Style, needed)
		}
		if needsNext := f.Style == "cursor" || f.Style == "link"; needsNext != (f.Next != "") {
			d.fail(at, "next is where the next %s is found, expected it with style cursor or link and no other", cmp.Or(map[string]string{"link": "address"}[f.Style], "cursor"))
		}
	}
	if f := of.Total; f != nil {
		at := strictyaml.Child(path, "total")
		out.Total = &Total{Result: f.Result, Header: f.Header}
		switch {
		case f.Result == "" && f.Header == "":
			d.fail(at, "result is missing, expected the path of the number; or header, where that is the number")
		case f.Result != "" && f.Header != "":
			d.fail(at, "found result and header, expected one of them")
		case f.Header != "" && !headerName.MatchString(f.Header):
			d.fail(strictyaml.Child(at, "header"), "found %s, expected the name of a header", d.found(strictyaml.Child(at, "header"), f.Header))
		}
		if f.Path != "" {
			out.Total.Request = d.request(at, f.requestFile, c)
		} else if f.Method != "" || f.Body != "" || f.Query != nil {
			d.fail(at, "path is missing, expected that of the call")
		}
	}
}

// judgePlaces judges the places that are written as parts of a body.
func (d *draft) judgePlaces() {
	if !d.http() {
		return
	}
	var places []string
	for _, place := range slices.Sorted(maps.Keys(d.writers)) {
		path := d.at("fields", d.writers[place])
		if !d.doc.Has(path) {
			path = d.at("constants")
		}
		if strings.Contains(place, `\.`) {
			d.fail(path, "a name with a dot in it can be read, and not written: mark the field readonly")
		}
		for _, step := range strings.Split(place, ".") {
			if wholeNumber.MatchString(step) {
				d.fail(path, "%s is an element of a list, which cannot be written: mark the field readonly, or write it elsewhere", place)
			} else if d.xml && !xmlPlaceForm.MatchString(step) {
				d.fail(path, "a step of the path cannot be the name of an element")
			}
		}
		for _, other := range places {
			if strings.HasPrefix(place, other+".") {
				d.fail(path, "%s is written below %s, which is a value", place, other)
			}
		}
		places = append(places, place)
	}
}
