// Package strictyaml decodes YAML into Go structs and says everything that is
// wrong with it at once.
//
// It is for files that people write by hand and a program must be able to
// trust: unknown keys, keys given twice, values of the wrong type and syntax
// errors are problems, each with file, line, column, what was found, what was
// expected and, where one is close, a "did you mean". The [Document] it returns
// remembers where each value stood, so that checks made later point there too.
//
// It is not a general YAML library. It does not write YAML, it has no untyped decoding (no
// any), it takes one document per file, and it rejects syntax that makes a file mean
// something other than it seems to: tags, merge keys, numbers with a leading zero, yes and
// no as booleans. Plain scalars keep the text they were written in, so 010, 1e3 and
// 2027-01-01 are usable where text is expected. Anchors and aliases are resolved.
//
// Fields are decoded by their tag, yaml:"name". A field without one is ignored, but
// the fields of an embedded struct without one belong to the outer struct. A key that
// is absent leaves its field as it was, which is how defaults are given.
package strictyaml
