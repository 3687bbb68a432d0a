// Package rig is what the end-to-end tests stand on: a desk in the test's own
// process on a copy of the sample data, the real program as a process of its own, and
// what asks them. It is for tests only.
package rig
