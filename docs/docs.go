// Package docs embeds the documentation that the programs themselves serve or print, for programmers of
// clients and for authors of a mapping sheet. It is not a place for code.
package docs

import "embed"

// Integrators is the tutorial for programmers of clients, in Markdown. Text between the comments
// <!-- checkout --> and <!-- /checkout --> needs the source; text in a comment <!-- served: … -->
// is only for readers of the served guide.
//
//go:embed integrators.md
var Integrators string

// Interface is the reference for what the documented interface leaves open, in Markdown.
//
//go:embed interface.md
var Interface string

// Generators describes sample programs and generators of clients, in Markdown, with the same
// comments as Integrators. {{NAME}} stands for a file of Programs.
//
//go:embed kits/generators.md
var Generators string

// Programs are the sample programs that need no generator.
//
//go:embed kits/python/copy.py kits/php/copy.php kits/csharp/Orders.cs
var Programs embed.FS

// Causes explains the causes of refusals in access lines, in Markdown.
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
