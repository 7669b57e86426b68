package main

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// dropPages takes the pages of the program's own code and constants out of its
// memory: the start has touched many that serving never will. What is needed comes
// back from the page cache, a fault each. Only mappings that nobody can write are
// dropped, so that nothing is lost.
func dropPages() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(maps) {
		var from, to uintptr
		var may, path string
		var offset, device, inode string
		if n, _ := fmt.Sscanf(string(line), "%x-%x %s %s %s %s %s", &from, &to, &may, &offset, &device, &inode, &path); n != 7 {
			continue
		}
		if path == self && (may == "r-xp" || may == "r--p") {
			// It is advice: where the kernel does not take it, the pages stay.
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}
