// Package config holds frontdesk's configuration: the structs, their defaults,
// and the strict reading of a YAML file into them.
//
// [Load] and [Parse] report everything that is wrong with a file at once, each
// problem with its place, what was found and what was expected, as
// [strictyaml.Problems]. What they return is complete and valid in form: names
// are unique, allowlists match known endpoints, times and zones are resolved.
// A value may refer to the environment as ${NAME}; $${ stands for ${ itself.
//
// It is not for opening what the configuration names: no file is looked for, no
// address is bound, no database is dialled. It also knows neither endpoints nor
// drivers; the caller passes both as [Known]. Files are named as the process
// sees them, relative to its working directory.
//
// Values that hold secrets are [Secret]; they appear in no message and print as
// "[secret]".
package config
