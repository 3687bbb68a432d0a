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
	Keep         string // file or postgres:// of the gateway's own store; "" if none is given
	OwnRules     bool   // the system enforces the business rules itself
	WithoutRules []string
	Accounts     Accounts
	// ClientsKept says that a text identifies a client in the system, for which the id store
	// has a number: that of KeyRef{Resource: "client", Key: text}.
	ClientsKept bool
	Errors      Translator[Failure] // for a database
	Resources   map[*mapping.Resource]*Resource

	byName map[string]*Resource
}

// Source is the existing system; exactly one is set.
type Source struct {
	SQL     *SQL
	Service *Service
}

// Accounts says who may log in: Users, or the users of the database or the service.
type Accounts struct {
	Users          []User
	Table, Query   string   // for a database
	Facts          []Column // columns of Table or Query, from FactID on; nil for none
	Hash           []auth.ForeignHash
	ForgotPassword string
	// FoldNames says that the service ignores the case of a username.
	FoldNames bool
}

// User is a user of the fixed list.
type User struct {
	auth.User
	PasswordHash config.Secret
	ClientKey    string // the text that identifies the client if Sheet.ClientsKept; Client.ID is 0 then
}

// Listed returns the user of Users with exactly that name; nil for none.
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

// factFields returns the facts as fields. With kept, a text identifies the client.
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

// PathOf returns the path in a sheet of a key of a resource.
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
	// Of a database, Table is written; Read is read: a name, or a SELECT in parentheses. Where
	// is a condition on rows, in SQL.
	Table, Read, Where string
	Key                Key
	// Through is the reference to the record whose client a record has; nil if the record
	// names its own client, or none.
	Through      *Field
	SystemClient string // the value of the client in records of all clients
	Changes      Changes
	Operations   map[mapping.Scope]bool // the operations of the resource
	// Fields are aligned with the model's Resource.Fields.
	Fields  []Field
	SQL     *ResourceSQL     // for a database
	Service *ServiceResource // for a service

	sheet    *Sheet
	client   string // the place of the client in each record; "" for none
	shared   bool   // the resource has client or shared of its own
	compared atomic.Pointer[compared]
}

// Field is one field.
type Field struct {
	*mapping.Field
	// Target is the resource whose kept IDs the field holds; nil if it holds none, or if
	// ReferenceBy names the resource in each record.
	Target *Resource

	writable bool
}

// Complete returns the patch without values that the record already has: writing them back could
// change the system, if several codes stand for one value or one value fills several places. Of a
// reference and the field that names its resource, it keeps both or neither.
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
