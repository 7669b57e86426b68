//go:build drill

package storetest

// Rounds returns how often a test repeats a race, a kill or a random run in `make drill`.
func Rounds(quick, thorough int) int { return thorough }
