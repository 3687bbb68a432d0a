// Package instrument counts what a gateway does, once: Prometheus metrics are the counters, and the
// history of the operators' pages is a series of snapshots of them, one every ten seconds. So the
// pages, /metrics and its alerts agree.
//
// In addition it keeps, within bounds, what counters cannot show: the last refusals one by one, what
// api_keys were seen with, the slowest calls, and when something changed. All of it can be kept in a
// file over a restart. Package desk decides what is worth reporting, and draws it.
package instrument
