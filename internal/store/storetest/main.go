package storetest

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// Main runs the tests of a package and returns the exit code. It runs perProcessor tests at the
// same time for each processor, unless -parallel says how many: tests of a database mostly wait
// for commits and locks.
func Main(m *testing.M, perProcessor int) int {
	if err := flag.Set("test.parallel", strconv.Itoa(perProcessor*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // no such flag: not a test program
	}
	return m.Run()
}
