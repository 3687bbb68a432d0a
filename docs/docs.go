// Package docs is the part of the documentation that the programs themselves hand out: what
// programmers of clients read, and who writes a mapping sheet. It is not a place for code.
package docs

import "embed"

// Integrators is the tutorial for those who write clients, in Markdown. What is between the
// comments <!-- checkout --> and <!-- /checkout --> needs the source; what is in a comment
// <!-- served: … --> is for readers of the served guide alone.
//
//go:embed integrators.md
var Integrators string

// Interface is what the documented interface leaves open, in Markdown.
//
//go:embed interface.md
var Interface string

// Generators is about programs to begin with and generators of clients, in Markdown, with the
// same comments as Integrators. {{NAME}} stands for a file of Programs.
//
//go:embed kits/generators.md
var Generators string

// Programs are those that need no generator.
//
//go:embed kits/python/copy.py kits/php/copy.php kits/csharp/Orders.cs
var Programs embed.FS

// Causes is what the causes of refusals mean that access lines have, in Markdown.
//
//go:embed causes.md
var Causes string

// Sheet is the manual of the mapping sheet, in Markdown, for map brief.
//
//go:embed sheet.md
var Sheet string

// ConfigSchema is the JSON Schema of configurations, for editors.
//
//go:embed config.schema.json
var ConfigSchema []byte
