// Package terminal is how commands communicate with people: text that is safe for a
// terminal, numbers and times in readable form, tables, progress, and the forms of times
// on a command line. The content comes from the commands; requests and logs do not use
// this package.
package terminal
