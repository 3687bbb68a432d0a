package sheet

import (
	"sync/atomic"
	"time"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Sheet is a loaded mapping sheet. It is immutable and safe for concurrent use.
type Sheet struct {
	File string
	// Model is the model narrowed to the resources and fields that are mapped.
	// All *mapping.Resource and *mapping.Field below are of this model.
	Model        *mapping.Model
	Source       Source
	Location     *time.Location
	Keep         string // file or postgres:// of the gateway's own store; "" where none is given
	OwnRules     bool   // the system enforces the business rules itself
	WithoutRules []string
	Accounts     Accounts
	// ClientsKept tells that what identifies a client in the system is a text, for which the
	// id store has a number: that of KeyRef{Resource: "client", Key: text}.
	ClientsKept bool
	Errors      Translator[Failure] // of a database
	Resources   map[*mapping.Resource]*Resource

	byName map[string]*Resource
}

// Source is the existing system; exactly one is set.
type Source struct {
	SQL     *SQL
	Service *Service
}

// Accounts says who may log in: Users, or whom the database, or the service, knows.
type Accounts struct {
	Users          []User
	Table, Query   string   // of a database
	Facts          []Column // of Table or Query, from FactID on; nil for none
	Hash           []auth.ForeignHash
	ForgotPassword string
	// FoldNames tells that the case of a username does not matter to the service.
	FoldNames bool
}

// User is one of a fixed list.
type User struct {
	auth.User
	PasswordHash config.Secret
	ClientKey    string // what identifies the client where Sheet.ClientsKept; Client.ID is 0 then
}

// Listed is the user of Users with exactly that name; nil for none.
func (a *Accounts) Listed(username string) *User {
	for i := range a.Users {
		if a.Users[i].Username == username {
			return &a.Users[i]
		}
	}
	return nil
}

// The positions of facts of a user.
const (
	FactID = iota
	FactUsername
	FactPassword
	FactEmail
	FactClientID
	FactClientName
	FactExternal
	FactBlocked
)

// factFields are the facts as fields. Where clients are kept, a text identifies them.
func factFields(kept bool) []mapping.Field {
	all := []mapping.Field{
		FactID:         {Name: "id", Type: mapping.Int4},
		FactUsername:   {Name: "username", Type: mapping.Varchar, Length: 255},
		FactPassword:   {Name: "password", Type: mapping.Varchar, Length: 1024},
		FactEmail:      {Name: "email", Type: mapping.Varchar, Length: 255},
		FactClientID:   {Name: "client_id", Type: mapping.Int4},
		FactClientName: {Name: "client_name", Type: mapping.Varchar, Length: 255},
		FactExternal:   {Name: "external", Type: mapping.Int4, OneOf: []string{"0", "1"}},
		FactBlocked:    {Name: "blocked", Type: mapping.Int4, OneOf: []string{"0", "1"}},
	}
	if kept {
		all[FactClientID].Type, all[FactClientID].Length = mapping.Varchar, 255
	}
	return all
}

// Resource returns how the system has the resource of that name, or nil.
func (s *Sheet) Resource(name string) *Resource { return s.byName[name] }

// PathOf is where a sheet says something of a resource.
func PathOf(r *Resource, keys ...string) string {
	return strictyaml.Child("resources", append([]string{r.Name}, keys...)...)
}

// Supports reports whether the system has an operation of a resource.
func (s *Sheet) Supports(r *mapping.Resource, op mapping.Scope) bool {
	known := s.Resources[r]
	return known != nil && known.Operations[op]
}

// Writes reports whether the system has a place for a field, even if clients cannot write it.
func (s *Sheet) Writes(r *mapping.Resource, f *mapping.Field) bool {
	known := s.Resources[r]
	return known != nil && known.Fields[f.Index].writable
}

// NeedsKeep reports whether the gateway issues IDs, which need the id store.
func (s *Sheet) NeedsKeep() bool { return s.ClientsKept || s.keepsIDs() }

func (s *Sheet) keepsIDs() bool {
	for _, r := range s.byName {
		if r.Key.Kept {
			return true
		}
	}
	return false
}

// Resource is how the system has one resource.
type Resource struct {
	*mapping.Resource
	// Table is what is written of a database, Read what is read: a name, or a SELECT in
	// parentheses. Where is a condition of rows, SQL.
	Table, Read, Where string
	Key                Key
	// Through is the reference to the record whose client it is; nil where it is
	// the record's own, or that of none.
	Through      *Field
	SystemClient string // its value in records of all clients
	Changes      Changes
	Operations   map[mapping.Scope]bool // those that there are
	// Fields are aligned with the model's Resource.Fields.
	Fields  []Field
	SQL     *ResourceSQL     // of a database
	Service *ServiceResource // of a service

	sheet    *Sheet
	client   string // where each record itself tells its client; "" for nowhere
	shared   bool   // the resource itself says whose its records are
	compared atomic.Pointer[compared]
}

// Field is one field.
type Field struct {
	*mapping.Field
	// Target is the resource whose kept IDs the field holds; nil where the value
	// is the value, or where ReferenceBy tells it per record.
	Target *Resource

	writable bool
}

// Complete returns the patch without values that the record already has. Writing them back
// could change the system, where several codes stand for one value or one value fills several
// places. If another field names a field's resource, both stay.
func (r *Resource) Complete(before, patch mapping.Record) mapping.Record {
	patch = before.Changes(patch)
	for i := range r.Fields {
		if r.Fields[i].ReferenceBy == "" || !r.sheet.keepsIDs() {
			continue
		}
		by := r.Field(r.Fields[i].ReferenceBy).Index
		if patch.Values[i].IsAbsent() == patch.Values[by].IsAbsent() {
			continue
		}
		for _, k := range [...]int{i, by} {
			if patch.Values[k].IsAbsent() {
				patch.Values[k] = before.Values[k]
			}
		}
	}
	return patch
}
