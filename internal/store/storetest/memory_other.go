//go:build !linux

package storetest

func memoryFolder() string { return "" }
