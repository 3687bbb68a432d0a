package strictyaml

// The rules for every file. Their names never change.
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
