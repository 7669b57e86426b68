// Package bench measures operations of the service and compares them with a baseline in the same run on the same machine.
//
// Absolute figures depend on the machine and on what else it does. Ratios between contenders that take turns in one run do not.
// [Compare] interleaves the turns (A, B, C, A, B, C, …); a ratio is the median over the rounds of the ratio within each round.
// A ratio of throughputs above 1 is faster: higher is better.
//
// Package baseline compares an operation of the service with two bare handlers:
//
//   - floor: a handler with one indexed SELECT, or one UPDATE and its commit, on the same engine. It is the least that an
//     operation on durable data can cost.
//   - same statements: a handler with the SQL statements of the operation and nothing else. The difference to the operation is
//     the cost of routing, sessions, decoding, rules and encoding.
//
// All contenders use the same net/http client over loopback TCP. The client runs on the same cores, so it moves each ratio
// towards 1. To measure the CPU time of the service alone, run it as a separate process ([Start]): its CPU time excludes the
// client and the database server.
package bench
