// Package bench measures operations of the service over HTTP, and compares two builds of it in one run on one machine.
//
// Absolute figures depend on the machine and on what else it does. Ratios between contenders that take turns in one run do not.
// [Compare] interleaves the turns (A, B, A, B, …); a ratio is the median over the rounds of the ratio within each round.
// A ratio of throughputs above 1 is faster: higher is better.
//
// The client is net/http over loopback TCP. It runs on the same cores as the service, so it moves each ratio towards 1. Each
// service is a separate process ([Start]): its CPU time excludes the client and the database server.
package bench
