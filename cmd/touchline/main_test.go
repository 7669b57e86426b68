package main

import (
	"os"
	"testing"
)

// asCommand, if set, makes the test binary run as touchline. TestMain sets it for child
// processes.
const asCommand = "RUN_TEST_PROGRAM_AS_TOUCHLINE"

// TestMain runs touchline if asCommand is set, and the tests otherwise.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main() // exits
	}
	_ = os.Setenv(asCommand, "1")
	os.Exit(m.Run())
}
