package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDiskFull: while the SQLite file cannot grow, writes return unavailable and
// change nothing, and reads work. Writes work again without a restart.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	p := startServer(t, "TOUCHLINE_OTP_SENDS_PER_ADDRESS_HOUR=0", "TOUCHLINE_OTP_SENDS_TOTAL_HOUR=0", "TOUCHLINE_REQUESTS_PER_ADDRESS_MINUTE=0")
	ask := func(n int) (int, string, string) {
		t.Helper()
		status, header, body := p.post("/auth/request-otp", fmt.Sprintf(`{"mobile_number": "+9198128%05d"}`, n))
		return status, header.Get("Retry-After"), body
	}
	if status, _, body := ask(0); status != 202 {
		t.Fatalf("got %d %s", status, body)
	}
	p.limitFileSize(p.fileSize("touchline.db-wal"))
	n := 1
	eventually(t, "the disk is full", func() bool {
		n++
		status, wait, body := ask(n)
		if status != 202 && (status != 503 || wait == "" || !strings.Contains(body, `"unavailable"`)) {
			t.Fatalf("got status %d, Retry-After %q: %s", status, wait, body)
		}
		return status == 503
	})
	for range 20 {
		if status, _, body := ask(n); status != 503 {
			t.Fatalf("got status %d with a full disk: %s", status, body)
		}
	}
	if status, _, _ := p.get("/readyz"); status != 200 {
		t.Logf("/readyz with a full disk: got status %d", status)
	}
	if status, _, _ := p.get("/healthz"); status != 200 {
		t.Errorf("/healthz: got status %d", status)
	}
	p.limitFileSize(-1)
	eventually(t, "writes work again", func() bool {
		// 202 also shows that refused requests left no resend limit behind.
		status, _, _ := ask(n)
		return status == 202
	})
	p.interrupt()
	if code := p.wait(waitLimit); code != 0 || strings.Contains(p.stderrText(), "level=ERROR") {
		t.Errorf("got exit code %d: %s", code, p.stderrText())
	}
}

// fileSize returns the size of a file in the data folder.
func (p *process) fileSize(name string) int64 {
	p.Helper()
	info, err := os.Stat(filepath.Join(p.dir, "touchline-data", name))
	if err != nil {
		p.Fatal(err)
	}
	return info.Size()
}

// limitFileSize sets the process's file size limit, to simulate a full disk. -1
// removes it.
func (p *process) limitFileSize(size int64) {
	p.Helper()
	var limit unix.Rlimit
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		p.Fatal(err)
	}
	limit.Cur = limit.Max
	if size >= 0 {
		limit.Cur = uint64(size)
	}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		p.Fatal(err)
	}
}
