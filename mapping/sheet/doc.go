// Package sheet reads a vendor's mapping sheet: how an existing system has the
// records of the interface, and how its values and errors are converted.
//
// A sheet is strict YAML (config/strictyaml). Load judges all of it against the
// resource model and returns every problem at once. The compiled sheet says where
// the system has each value. For a database (backend/legacy), Resource.SQL has
// columns, or SQL of the vendor, which also converts values; Params finds its
// parameters. For a service (backend/remote), Resource.Service has paths in its
// JSON, or jq, by which this package converts values.
//
// The sheet also says what the system does not have. Sheet.Model is the resource
// model narrowed to what is mapped, so that validation, GET /model, the endpoints
// and the description never promise more than the system has.
package sheet
