package sheet

import (
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// ResourceSQL is how a database has a resource, as its sheet says: it reads and writes columns, or
// SQL of the vendor. Params finds the parameters in that SQL. In a create, an update or a delete,
// any SQL may use client (what identifies the client), client_name, user (the number of the user)
// and username. SQL for reading may use only client.
type ResourceSQL struct {
	Client, Version Expr // the client of a record, and its version
	// Constants are set by every INSERT of frontdesk's own.
	Constants []Assign
	// NewKey are the statements that make the key of a new record. The last one returns a row with
	// the part of the key that comes from nowhere else. nil unless Key.Generated is sql.
	NewKey []string
	// Statements are the statements of create, update and delete, in their order; nil if the sheet
	// has none. OwnStatement stands for the statement of frontdesk's own. They know :key, or
	// :key.COLUMN for a key of several columns, and :FIELD, the value of the field after the write,
	// or :FIELD.COLUMN for a reference to a key of several columns. If a field has the name of
	// another parameter, the field counts.
	Statements map[mapping.Scope][]string
	// Fields are aligned with Resource.Fields.
	Fields []Column
}

// Expr is the name of a column, or SQL; the zero Expr means none.
type Expr struct{ Column, SQL string }

// Assign is a column, and the SQL of the value that is written to it.
type Assign struct{ Column, SQL string }

// assigns are written values by column.
type assigns []Assign

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (all *assigns) UnmarshalYAML(n strictyaml.Node) error {
	var by map[string]string
	n.Decode(&by)
	for _, column := range n.Keys() {
		*all = append(*all, Assign{column.Name, by[column.Name]})
	}
	return nil
}

// Conversion converts between the values of a system and those that clients see.
type Conversion struct {
	Codes []Code // the code list, in its order; if several stand for one value, the first is written
	// UnknownIsNull says that a stored code that is not listed means null. Otherwise it is an error.
	UnknownIsNull bool
	Kind          Kind           // how a timestamp is stored
	Zone          *time.Location // the zone of a moment without one
	Nulls         []string       // texts and numbers that mean null; the first is written for null
	EmptyIsNull   bool           // an empty text means null; a service gets one for null
	Constant      mapping.Value  // the value of every record; absent if it varies
	Default       mapping.Value  // the value of a new record that comes without one; absent for none
}

// Code is a stored value, and the value that clients see for it.
type Code struct {
	Stored string
	Plain  bool // the sheet has Stored without quotes, so it may be a number, true or false
	Shown  mapping.Value
}

// Kind is how a moment is stored; "" means by the type of the column, or for a service ISO 8601.
type Kind string

// The kinds of moments.
const (
	KindDate        Kind = "date"
	KindDatetime    Kind = "datetime"     // in Conversion.Zone
	KindTimestamp   Kind = "timestamp"    // with its zone
	KindEpoch       Kind = "epoch"        // seconds since 1970 UTC
	KindEpochMillis Kind = "epoch_millis" // milliseconds since then
)

// Stamp says when a field is set to the present time.
type Stamp string

// The times of stamps.
const (
	StampNever  Stamp = ""
	StampCreate Stamp = "create"
	StampChange Stamp = "change"
)
