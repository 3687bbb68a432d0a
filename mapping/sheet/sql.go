package sheet

import (
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// ResourceSQL is how a database has a resource, as its sheet says it: what is read and
// written are columns, or SQL of the vendor's. Params finds the parameters in that SQL.
// Those that any of it may name, in a create, an update or a delete, are client, the identity
// of the client, client_name, user, the number of the user, and username. What is read knows
// client alone.
type ResourceSQL struct {
	Client, Version Expr // what tells whose a record is, and its version
	// Constants are set by every create that frontdesk writes.
	Constants []Assign
	// NewKey are the statements that make the key of a new record: the last one answers a row
	// with the part of the key that nothing else gives. nil unless Key.Generated is sql.
	NewKey []string
	// Statements are those of create, update and delete, in their order; default stands for
	// what frontdesk does itself. nil of an operation that the sheet says nothing about.
	// They know :key, or :key.COLUMN where it has several, and :FIELD, the value of the field
	// after the write, or :FIELD.COLUMN of a reference to a key of several. A field comes
	// before another parameter of its name.
	Statements map[mapping.Scope][]string
	// Fields are aligned with Resource.Fields.
	Fields []Column
}

// Expr is the name of a column, or SQL; the zero Expr is neither.
type Expr struct{ Column, SQL string }

// Assign is a column and the SQL of what is written to it.
type Assign struct{ Column, SQL string }

// assigns are what is written, by column.
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

// Conversion is what a system has in place of what clients see.
type Conversion struct {
	Codes []Code // the code list, in its order; of several for one value the first is written
	// UnknownIsNull tells that a stored code that is not listed is null. Else it cannot be shown.
	UnknownIsNull bool
	Kind          Kind           // of a timestamp
	Zone          *time.Location // of a moment that names none
	Nulls         []string       // texts and numbers that mean null; the first is what null is written as
	EmptyIsNull   bool           // an empty text means null; a service is sent one for null
	Constant      mapping.Value  // of every record; absent where it varies
	Default       mapping.Value  // of a new record that comes without; absent for none
}

// Code is a value that is stored for one that clients see.
type Code struct {
	Stored string
	Plain  bool // it is written without quotes, and may be a number, true or false of a service
	Shown  mapping.Value
}

// Kind is how a moment is stored; "" as the type in the database says, of a service ISO 8601.
type Kind string

// The kinds of moments.
const (
	KindDate        Kind = "date"
	KindDatetime    Kind = "datetime"     // of Conversion.Zone
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
