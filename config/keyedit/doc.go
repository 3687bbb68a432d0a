// Package keyedit changes api_keys in the text of a configuration file, and
// nothing else of it: comments, order, quotes and line ends stay as their
// author wrote them.
//
// It works by the places that the YAML parser gives for values, and never
// prints a file anew. A layout that it is not sure of (anchors, aliases, keys in
// a list of flow style, …) is refused with an error that wraps [ErrLayout]; the
// file is then for a person to edit.
//
// It is not for judging a configuration: it knows only the names of the few
// fields it changes. Whoever uses it loads the changed text and compares what it
// means with what was meant.
package keyedit
