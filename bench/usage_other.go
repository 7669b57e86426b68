//go:build !linux

package bench

import (
	"errors"
	"time"
)

// CPUTime is available on Linux only.
func CPUTime(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

// Resident is available on Linux only.
func Resident(int) (int64, error) { return 0, errors.ErrUnsupported }

// Peak is available on Linux only.
func Peak(int) (int64, error) { return 0, errors.ErrUnsupported }
