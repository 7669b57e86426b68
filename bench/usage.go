package bench

import (
	"time"

	"github.com/prometheus/procfs"
)

// CPUTime returns the CPU time, user and system, that all threads of a process have used, in
// steps of 10 ms. It needs /proc, as Memory does.
func CPUTime(pid int) (time.Duration, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := p.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// Memory returns the resident memory of a process and its largest value so far, in bytes.
func Memory(pid int) (resident, peak int64, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, err
	}
	status, err := p.NewStatus()
	return int64(status.VmRSS), int64(status.VmHWM), err
}
