// Package sheet reads a vendor's mapping sheet: how an existing system has the
// records of the interface, and how its values and errors are converted.
//
// A sheet is strict YAML (config/strictyaml). Load judges all of it against the
// resource model and returns every problem at once. What it returns is compiled,
// and says where the system has each value: Resource.SQL the columns, or SQL of
// the vendor's, of a database, in which Params finds the parameters and which
// converts by itself (backend/legacy); Resource.Service the paths, or jq, in the
// JSON of a service, with which the package converts (backend/remote).
//
// The sheet also says what the system does not have. Sheet.Model is the resource
// model narrowed to what is mapped, so that validation, GET /model, the endpoints
// and the description never promise more than there is.
package sheet
