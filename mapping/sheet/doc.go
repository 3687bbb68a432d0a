// Package sheet reads a vendor's mapping sheet: how an existing system has the
// records of the interface, and how its values and errors are converted.
//
// A sheet is strict YAML (config/strictyaml). Load judges all of it against the
// resource model and returns every problem at once. What it returns is compiled:
// the drivers (backend/legacy, backend/remote) ask it which places to read, hand
// it what they read, and get records; and the other way about.
//
// A place is where a value is in the existing system: a column of a table, or a
// path in a JSON or XML answer. The package knows neither SQL nor HTTP: it moves
// values between places and records. A sheet of format 2, which is in front of a
// database, also has SQL of the vendor's, in which Params finds the parameters;
// Resource.SQL is what such a sheet says, and its driver has the database convert.
//
// The sheet also says what the system does not have. Sheet.Model is the resource
// model narrowed to what is mapped, so that validation, GET /model, the endpoints
// and the description never promise more than there is.
package sheet
