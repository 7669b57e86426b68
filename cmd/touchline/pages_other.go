//go:build !linux

package main

// dropPages does nothing where nobody has tried it.
func dropPages() {}
