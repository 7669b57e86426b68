// Package e2e holds the acceptance tests of the whole service: each test starts
// the server or the compiled binary on a real database and uses its public
// interfaces (HTTP, SMS, command line). It has no production code.
package e2e
