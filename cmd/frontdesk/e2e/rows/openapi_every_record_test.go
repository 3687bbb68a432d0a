package rows

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// fields are the members of a body.
type fields map[string]any

// body is what a record can be created with: the fields that it must have.
func (s *setting) body(r *mapping.Resource) fields {
	s.T.Helper()
	b := fields{}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Required && !f.Primary && !f.Readonly {
			b[f.Name] = s.value(f)
		}
	}
	return b
}

// value is one that a field can be given in any record, and in many.
func (s *setting) value(f *mapping.Field) any {
	s.T.Helper()
	switch {
	case f.Name == "license_plate":
		return s.Plate()
	case f.Name == "resource":
		return "contact"
	case f.Reference == "order" || f.Reference == "flatrate" || f.Reference == "vehicle":
		return s.fresh(f.Target())
	case f.Reference == "country":
		return 528
	case f.Reference != "" || f.ReferenceBy != "":
		return 1
	case f.Name == "vin":
		return fmt.Sprintf("WVWZZZ1KZAW%06d", s.Next())
	case f.Unique && f.UniquePer == "":
		return string(rune(0x4e00 + s.Next())) // one character, for a code may be as short as two
	case f.Type == mapping.Int4 || f.Type == mapping.Float8:
		return json.Number(f.Example)
	default:
		return f.Example
	}
}

// fresh is the id of a new record.
func (s *setting) fresh(r *mapping.Resource) int {
	s.T.Helper()
	return s.Post(r.Name, "%s", asJSON(s.T, s.body(r)))
}

// with is a request that is right but for one field, that of the record's first
// which fits, or of an array's elements.
func (s *setting) with(fits func(*mapping.Field) bool, value func(*mapping.Field) any) request {
	s.T.Helper()
	r, body := s.right(), fields{}
	if s.op.Scope == mapping.OpCreate {
		body = s.body(s.op.Resource)
	}
	f := first(s.op.Resource, fits)
	if f != nil {
		body[f.Name] = value(f)
	} else {
		array := first(s.op.Resource, ofType(mapping.Array))
		require.NotNil(s.T, array, "no field of %s fits", s.op.Resource.Name)
		f = first(array.Target(), func(f *mapping.Field) bool { return f.Name != array.ArrayKey && fits(f) })
		require.NotNil(s.T, f, "no field of %s fits", array.Target().Name)
		element := s.body(array.Target())
		delete(element, array.ArrayKey)
		element[f.Name] = value(f)
		body[array.Name] = []any{element}
	}
	r.body = asJSON(s.T, body)
	return r
}

// first is the first field that a client may write and that fits.
func first(r *mapping.Resource, fits func(*mapping.Field) bool) *mapping.Field {
	for i := range r.Fields {
		if f := &r.Fields[i]; !f.Primary && !f.Readonly && fits(f) {
			return f
		}
	}
	return nil
}

func ofType(types ...mapping.Datatype) func(*mapping.Field) bool {
	return func(f *mapping.Field) bool {
		for _, t := range types {
			if f.Type == t {
				return true
			}
		}
		return false
	}
}

func always(v any) func(*mapping.Field) any { return func(*mapping.Field) any { return v } }

// wrong sends what is none of a datatype: as a field, or as a filter of a list.
func wrong(sent any, filter string, types ...mapping.Datatype) func(*setting) request {
	return func(s *setting) request {
		if s.op.Scope != mapping.OpList {
			return s.with(ofType(types...), always(sent))
		}
		for i := range s.op.Resource.Fields {
			f := &s.op.Resource.Fields[i]
			if !f.Primary && f.Filterable() && ofType(types...)(f) && !strings.Contains(s.right().query, f.Name+"=") {
				return s.right().and(f.Name + "=" + filter)
			}
		}
		s.T.Fatalf("no filter of %s fits", s.op.Resource.Name)
		return request{}
	}
}

// tooLong sends one character more than a field holds.
func tooLong(t mapping.Datatype) func(*setting) request {
	return func(s *setting) request {
		return s.with(ofType(t), func(f *mapping.Field) any { return letters(f.Length + 1) })
	}
}

// query asks with this in the query.
func query(text string) func(*setting) request {
	return func(s *setting) request { return s.right().and(text) }
}

// altered asks about a record whose flag was set behind the desk's back.
func altered(column string, value any) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		s.Alter(`UPDATE "%s" SET "%s" = %v WHERE id = %s`, s.op.Resource.Name, column, value, r.path[strings.LastIndexByte(r.path, '/')+1:])
		return r
	}
}

// at asks about another record, or about none.
func at(item string) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		r.path = "/" + s.op.Resource.Name + item
		return r
	}
}

// recordWays are the errors of the operations that every resource has.
var recordWays = map[mapping.Reason]func(*setting) request{
	mapping.PrimaryIDInvalid: at("/abc"),
	mapping.PrimaryIDMissing: at(""),
	mapping.RecordNotFound:   at("/999999"),
	mapping.PageInvalid:      query("page=0"),
	mapping.PageSizeInvalid:  query("page_size=0"),
	mapping.SystemRecord:     altered("is_system", 1),
	mapping.BlockedRecord:    altered("is_blocked", 1),
	mapping.ArchivedRecord: func(s *setting) request {
		r := altered("is_archived", 1)(s)
		r.body = `{"is_blocked":0}`
		return r
	},
	mapping.Int4Invalid:      wrong("one", "one", mapping.Int4),
	mapping.Float8Invalid:    wrong("one", "one", mapping.Float8),
	mapping.TimestampInvalid: wrong("yesterday", "yesterday", mapping.Timestamp),
	mapping.VarcharInvalid:   wrong([]int{1, 2}, "%00", mapping.Varchar, mapping.Text),
	mapping.ByteaInvalid:     wrong("!!", "", mapping.Bytea),
	mapping.VarcharTooLong:   tooLong(mapping.Varchar),
	mapping.TextTooLong:      tooLong(mapping.Text),
	mapping.ParametersRequired: func(s *setting) request {
		r := s.right()
		if r.query = ""; s.op.Scope == mapping.OpGet {
			r.path, r.query = "/"+s.op.Resource.Name, "id="
		}
		return r
	},
	mapping.FieldNotInModel: func(s *setting) request {
		if s.op.Method == "GET" {
			return s.right().and("fields=colour")
		}
		r := s.right()
		r.body = strings.Replace(r.body, "{", `{"colour":"red",`, 1)
		return r
	},
	mapping.FieldReadonly: func(s *setting) request {
		r := s.right()
		r.body = strings.Replace(r.body, "{", `{"created_at":null,`, 1)
		return r
	},
	mapping.PrimaryIDSupplied: func(s *setting) request {
		r := s.right()
		r.body = strings.Replace(r.body, "{", `{"id":7,`, 1)
		return r
	},
	mapping.FieldRequired: func(s *setting) request {
		if s.op.Scope == mapping.OpCreate {
			return s.with(isRequired, always(nil))
		}
		return altered(first(s.op.Resource, isRequired).Name, "NULL")(s)
	},
	mapping.FieldEmpty: func(s *setting) request { return s.with(isRequired, always(nil)) },
	mapping.RelatedIDNotFound: func(s *setting) request {
		return s.with(func(f *mapping.Field) bool { return f.Reference != "" || f.ReferenceBy != "" }, always(999999))
	},
	mapping.CannotUpdate: func(s *setting) request {
		return s.with(func(f *mapping.Field) bool { return f.Immutable || f.Type == mapping.Array }, func(f *mapping.Field) any {
			if f.Type == mapping.Array {
				element := s.body(f.Target())
				delete(element, f.ArrayKey)
				return []any{element}
			}
			return s.fresh(f.Target())
		})
	},
	mapping.ArrayEmpty: func(s *setting) request { return s.with(ofType(mapping.Array), always([]any{})) },
	mapping.ValidationFailed: func(s *setting) request {
		if s.op.Scope == mapping.OpList {
			return s.right().and("total=2")
		}
		return s.with(func(f *mapping.Field) bool { return len(f.OneOf) > 0 }, func(f *mapping.Field) any {
			return map[bool]any{true: 7, false: "robot"}[f.Type == mapping.Int4]
		})
	},
	mapping.DateNotAfter: func(s *setting) request {
		var f *mapping.Field
		r := s.with(func(of *mapping.Field) bool { return of.After != "" }, func(of *mapping.Field) any { f = of; return "2020-01-01" })
		r.body = asJSON(s.T, s.more(r.body, fields{f.After: "2026-01-01"}))
		return r
	},
	mapping.DuplicateValue: duplicate,
	mapping.InUse: func(s *setting) request {
		r := s.right()
		s.Post("document", `{"name":"photo.png","resource":"%s","resource_id":%s}`, s.op.Resource.Name, r.path[strings.LastIndexByte(r.path, '/')+1:])
		return r
	},
}

func isRequired(f *mapping.Field) bool { return f.Required }

// more is a body with further members.
func (s *setting) more(body string, with fields) fields {
	s.T.Helper()
	all := fields{}
	require.NoError(s.T, json.Unmarshal([]byte(body), &all))
	maps.Copy(all, with)
	return all
}

// duplicate sends what another record has already, where none may.
func duplicate(s *setting) request {
	r := s.op.Resource
	f := first(r, func(f *mapping.Field) bool {
		return f.Unique && len(f.UniqueWhen) == 0 && (f.Name != "license_plate" || s.op.Scope == mapping.OpCreate)
	})
	require.NotNil(s.T, f)
	one := s.body(r)
	if one[f.Name] == nil {
		one[f.Name] = s.value(f)
	}
	s.Post(r.Name, "%s", asJSON(s.T, one))
	if s.op.Scope == mapping.OpCreate {
		return request{method: "POST", path: "/" + r.Name, token: s.Token, body: asJSON(s.T, one)}
	}
	another := s.body(r)
	if f.UniquePer != "" {
		another[f.UniquePer], another[f.Name] = one[f.UniquePer], 2
	}
	id := s.Post(r.Name, "%s", asJSON(s.T, another))
	return request{method: "PUT", path: fmt.Sprintf("/%s/%d", r.Name, id), token: s.Token, body: asJSON(s.T, fields{f.Name: one[f.Name]})}
}
