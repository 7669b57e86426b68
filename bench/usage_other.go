//go:build !linux

package bench

import (
	"errors"
	"time"
)

// CPUTime is known on Linux alone.
func CPUTime(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

// Resident is known on Linux alone.
func Resident(int) (int64, error) { return 0, errors.ErrUnsupported }
