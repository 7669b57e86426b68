//go:build !unix

package database

import "os"

// tryLock does nothing: only Unix systems are supported in production.
func tryLock(*os.File) (bool, error) { return true, nil }
