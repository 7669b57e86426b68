//go:build !drill

package storetest

// Rounds returns how often a test repeats a race, a kill or a random run: quick times in a usual run, thorough times with the build tag
// drill, which `make drill` sets.
func Rounds(quick, thorough int) int { return quick }
