package main

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// dropPages takes the pages of the program's own code and constants out of its
// memory: the start has touched many that serving never will. What is needed comes
// back from the page cache, a fault each.
func dropPages() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range droppable(maps, self) {
		// It is advice: where the kernel does not take it, the pages stay.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// droppable returns the mappings of the program self that lose nothing by being
// dropped: nobody can write there, and every page is still the file's. In a program
// that may be loaded anywhere (-buildmode=pie) the loader has written addresses
// among the constants, and a debugger writes its breakpoints into code; such pages
// are anonymous. maps is /proc/self/smaps.
func droppable(maps []byte, self string) []mapping {
	var found []mapping
	var m mapping // which the lines are about; zero where it stays
	for line := range bytes.Lines(maps) {
		var next mapping
		var may, path string
		var offset, device, inode string
		if n, _ := fmt.Sscanf(string(line), "%x-%x %s %s %s %s %s", &next.from, &next.to, &may, &offset, &device, &inode, &path); n >= 6 {
			if m = next; path != self || may != "r-xp" && may != "r--p" {
				m = mapping{}
			}
			continue
		}
		own, is := bytes.CutPrefix(line, []byte("Anonymous:"))
		if is && m != (mapping{}) && string(bytes.TrimSpace(own)) == "0 kB" {
			found = append(found, m)
		}
	}
	return found
}
