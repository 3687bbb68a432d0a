//go:build !unix

package desk

// accessible and descriptors answer as a Unix does that does not know.
func accessible(string) bool { return true }
func descriptors() int       { return 0 }
