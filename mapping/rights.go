package mapping

// Rights are the fields that an api_key may not use, by resource. They are immutable; nil is all
// fields.
type Rights map[string]FieldRights

// FieldRights are the names of the fields that are taken away, sorted. What may not be read may not
// be written either: Creates and Updates include Reads.
type FieldRights struct{ Reads, Creates, Updates []string }
