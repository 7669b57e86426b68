package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// cpuClock is CPUCLOCK_SCHED of the kernel: the low bits of the id of a process's CPU clock. Unlike the ticks in /proc, this
// clock counts nanoseconds and includes threads that have ended.
const cpuClock = 2

// CPUTime returns the CPU time, user and system, that all threads of a process have used.
func CPUTime(pid int) (time.Duration, error) {
	var ts syscall.Timespec
	clock := ^pid<<3 | cpuClock
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, errno)
	}
	return time.Duration(ts.Nano()), nil
}

// Resident returns the resident memory of a process, in bytes.
func Resident(pid int) (int64, error) { return memory(pid, "VmRSS:") }

// Peak returns the largest resident memory that a process has had, in bytes.
func Peak(pid int) (int64, error) { return memory(pid, "VmHWM:") }

// memory reads a field of /proc/<pid>/status and converts it from kB to bytes.
func memory(pid int, field string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		fields := bytes.Fields(line)
		if len(fields) == 3 && string(fields[0]) == field {
			kB, err := strconv.ParseInt(string(fields[1]), 10, 64)
			return kB * 1024, err
		}
	}
	return 0, fmt.Errorf("process %d: no %s in /proc", pid, field)
}
