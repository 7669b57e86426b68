//go:build unix

package doctor

import "golang.org/x/sys/unix"

// freeSpace returns the bytes that this user may still write to the disk of a folder.
func freeSpace(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// maxOpenFiles returns the limit of this process. The Go runtime raises it to the hard limit, also for the service.
func maxOpenFiles() (uint64, error) {
	var r unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r)
	return r.Cur, err
}
