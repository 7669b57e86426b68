package main

import (
	"os"
	"testing"
)

// asCommand is an environment variable of the processes that the tests start.
const asCommand = "RUN_TEST_PROGRAM_AS_TOUCHLINE"

// TestMain runs the command touchline in a process that a test started.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main() // exits
	}
	_ = os.Setenv(asCommand, "1")
	os.Exit(m.Run())
}
