// Package instrument counts what a gateway does, once: Prometheus' metrics are the counters, and
// the history of the operators' pages is a row of snapshots of them, one every ten seconds. So the
// pages, /metrics and its alerts say the same.
//
// Beside the counts it keeps, within bounds, what no count tells: the last refusals one by one, what
// api_keys were seen with, the slowest calls, and when something changed. All of
// it can be kept in a file over a restart. What is worth saying of it, and how it is drawn, is the
// desk's.
package instrument
