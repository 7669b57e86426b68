package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Peak is the most memory that a process has ever had in RAM, in bytes.
func Peak(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		fields := bytes.Fields(line)
		if len(fields) == 3 && string(fields[0]) == "VmHWM:" {
			kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("process %d has no memory", pid)
}
