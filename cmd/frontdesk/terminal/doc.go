// Package terminal is how commands speak with people: text that is safe for a
// terminal, numbers and times as people read them, tables, how far long work is, and
// the forms in which a command line says when. It is not what is said, which the
// commands and the rooms beside it know, and nothing for requests or logs.
package terminal
