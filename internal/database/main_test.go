package database_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestMain runs more tests at the same time than there are processors, unless -parallel says how
// many: many wait for locks and for the end of retries.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
