package doctor

import (
	"math"

	"golang.org/x/sys/windows"
)

// freeSpace returns the bytes that this user may still write to the disk of a folder.
func freeSpace(folder string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// maxOpenFiles returns no limit: Windows has none.
func maxOpenFiles() (uint64, error) { return math.MaxUint64, nil }
