//go:build !linux

package bench

import "errors"

// Peak is known on Linux alone.
func Peak(int) (int64, error) { return 0, errors.ErrUnsupported }
