package strictyaml

// Rule is a rule for files, with a stable name.
type Rule struct {
	ID    string // in kebab-case
	About string // what it demands, in a sentence
}

const (
	ruleUTF8        = "not-utf-8"
	ruleSyntax      = "syntax"
	ruleDocuments   = "second-document"
	ruleUnknown     = "unknown-key"
	ruleTwice       = "key-twice"
	ruleKind        = "wrong-kind"
	ruleValue       = "wrong-value"
	RuleWord        = "word"
	ruleVariable    = "variable"
	ruleAlias       = "alias-unknown"
	ruleAliases     = "alias-too-many"
	ruleDepth       = "too-deep"
	ruleMerge       = "merge-key"
	ruleTag         = "tag"
	ruleUnsupported = "unsupported"
)

// Rules are the rules that Decode checks in every file.
func Rules() []Rule {
	return []Rule{
		{ruleUTF8, "The file is text in UTF-8."},
		{ruleSyntax, "The file is YAML."},
		{ruleDocuments, "A file holds one YAML document."},
		{ruleUnknown, "Only keys that are known are written: a mistyped one would go unnoticed."},
		{ruleTwice, "A key is written once in its section."},
		{ruleKind, "A list, a mapping or a single value stands where one is expected."},
		{ruleValue, "A value has the form that its key expects."},
		{RuleWord, "A value is one of the words that its key knows."},
		{ruleVariable, "A variable of the environment that a value refers to is set, and written ${NAME}."},
		{ruleAlias, "An alias has its anchor above it."},
		{ruleAliases, "Aliases stand for 10000 values in a file at most."},
		{ruleDepth, "Values stand in each other 100 deep at most."},
		{ruleMerge, "The merge key << is not used."},
		{ruleTag, "Tags such as !!str are not used."},
		{ruleUnsupported, "Keys are plain words, and values plain, in quotes, lists or mappings."},
	}
}
