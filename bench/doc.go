// Package bench measures an operation of the service beside bare net/http handlers, in one run on one machine.
//
// An absolute number says as much about the machine as about the service, and on a shared machine it changes from minute to
// minute. A ratio between contenders that take turns within one run does not. Three kinds of contender are compared:
//
//   - the floor: a bare handler that makes one indexed SELECT, or one UPDATE and commit, on the same engine. Nothing that keeps
//     data can be faster.
//   - the same statements: a bare handler that makes the statements that the operation makes, and nothing else. What the
//     operation loses against it is the cost of our own code: routing, sessions, decoding, rules, encoding.
//   - the operation, through the real server.
//
// All three are asked by the same client over loopback TCP. The client takes its share of the same cores, the same for each
// contender, so a ratio near 1 is a little kinder than the truth; the client is written by hand to keep that share small. Where
// the cost itself is wanted, run the server as a process of its own ([Start]): its CPU time is read from the kernel's clock for
// that process, and neither the client nor the database server's processes are in it.
//
// Rounds are interleaved (A, B, C, A, B, C, …), and a ratio is the median over the rounds of the ratios within each round.
package bench
