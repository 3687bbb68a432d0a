// Package config holds frontdesk's configuration: the structs, their defaults,
// and the strict reading of YAML files into them.
//
// A [Loader] reads a file with those it includes, and the next time only what has
// changed. It reports everything that is wrong at once, each problem with its
// place, what was found, what was expected and the rule that was broken ([Rules]),
// as [strictyaml.Problems]. What it returns is complete and valid in form: names
// are unique, allowlists match known endpoints, times and zones are resolved. A
// value may refer to the environment as ${NAME}; $${ stands for ${ itself.
//
// It is not for opening what the configuration names: apart from included files
// none is looked for, no address is bound, no database is dialled. It also knows
// neither endpoints nor drivers; the caller passes both as [Known]. Files are
// named as the process sees them, relative to its working directory; included
// ones relative to the file that includes them.
//
// Values that hold secrets are [Secret]; they appear in no message and print as
// "[secret]".
package config
