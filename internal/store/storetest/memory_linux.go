package storetest

import "golang.org/x/sys/unix"

// memoryBytes is more than the databases and the WAL of one cluster take at a time.
const memoryBytes = 2 << 30

// memoryFolder returns /dev/shm, or "" if it is not writable or has less than
// memoryBytes free. Each test creates and drops a database of 300 files. On ext4 that took
// most of the time of the store's tests: for some minutes the file system does not reuse the
// inode of a deleted file, and looks at each of them for every new file.
func memoryFolder() string {
	const folder = "/dev/shm"
	var st unix.Statfs_t
	if unix.Statfs(folder, &st) != nil || st.Bavail*uint64(st.Bsize) < memoryBytes || unix.Access(folder, unix.W_OK) != nil {
		return ""
	}
	return folder
}
