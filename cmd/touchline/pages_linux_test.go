package main

import (
	"slices"
	"testing"
)

// TestDroppable: what the loader of a position-independent program wrote stays.
func TestDroppable(t *testing.T) {
	const maps = `55f000000000-55f001000000 r--p 00000000 fe:00 42                         /usr/bin/touchline
Size:              16384 kB
Anonymous:             0 kB
VmFlags: rd mr mw me sd
55f001000000-55f002000000 r-xp 01000000 fe:00 42                         /usr/bin/touchline
Anonymous:             0 kB
55f002000000-55f003000000 r--p 02000000 fe:00 42                         /usr/bin/touchline
Private_Dirty:      8192 kB
Anonymous:          8192 kB
55f003000000-55f004000000 rw-p 03000000 fe:00 42                         /usr/bin/touchline
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 43                         /lib/x86_64-linux-gnu/libc.so.6
Anonymous:             0 kB
7f0000001000-7f0000002000 r--p 00000000 00:00 0
Anonymous:             0 kB
`
	want := []mapping{{0x55f000000000, 0x55f001000000}, {0x55f001000000, 0x55f002000000}}
	if got := droppable([]byte(maps), "/usr/bin/touchline"); !slices.Equal(got, want) {
		t.Errorf("dropped: %x, want %x", got, want)
	}
}
