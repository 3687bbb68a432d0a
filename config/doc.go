// Package config holds frontdesk's configuration: the structs, their defaults,
// and the strict reading of YAML files into them.
//
// A [Loader] reads a file with those it includes, and the next time only what has
// changed. It reports all problems at once, each with its position, what was found, what
// was expected and the rule that was broken ([Rules]), as [strictyaml.Problems]. The
// configuration that it returns is complete and valid in form: names are unique,
// allowlists match known endpoints, times and zones are resolved. A value may refer to an
// environment variable as ${NAME}; $${ stands for ${ itself.
//
// It does not open what the configuration names: except for included files it looks for
// no file, binds no address and dials no database. It also knows neither endpoints nor
// drivers; the caller passes both as [Known]. Files are named as the process sees them,
// relative to its working directory; included ones relative to the file that includes
// them.
//
// Values that hold secrets are [Secret]; they appear in no message and print as
// "[secret]".
package config
