package clients_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// service is a running Touchline with an empty database.
type service struct {
	url, adminURL string
	otps          chan string // in the order in which the terminal shows them
}

// binary builds Touchline once, in a folder that TestMain removes.
var (
	folder string
	binary = sync.OnceValues(func() (string, error) {
		path := filepath.Join(folder, "touchline")
		build := exec.Command("go", "build", "-o", path, "./cmd/touchline")
		build.Dir, build.Stderr = "../../..", os.Stderr
		return path, build.Run()
	})
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "touchline-clients-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func startServer(t *testing.T) *service {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("build touchline: %v", err)
	}
	command := exec.Command(path, "serve", "--addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--shutdown-drain=0s")
	command.Dir, command.Stderr = t.TempDir(), os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	s := &service{otps: make(chan string, 16)}
	started, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		s.read(bufio.NewScanner(stdout), started)
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		<-ended
		if err := command.Wait(); err != nil {
			t.Errorf("stop touchline: %v", err)
		}
	})
	select {
	case <-started:
	case <-time.After(30 * time.Second):
		t.Fatal("touchline did not print its addresses")
	}
	return s
}

// read reads the addresses and the OTPs that the service prints, until it ends.
func (s *service) read(lines *bufio.Scanner, started chan<- struct{}) {
	address, otp := regexp.MustCompile(`http://[0-9.:]+`), regexp.MustCompile(`(\d{6}) is your Touchline code`)
	for lines.Scan() {
		switch m := otp.FindStringSubmatch(lines.Text()); {
		case m != nil:
			s.otps <- m[1]
		case s.url == "":
			s.url = address.FindString(lines.Text())
		case s.adminURL == "":
			if s.adminURL = address.FindString(lines.Text()); s.adminURL != "" {
				close(started)
			}
		}
	}
}

// otp returns the next OTP.
func (s *service) otp(t *testing.T) string {
	t.Helper()
	select {
	case otp := <-s.otps:
		return otp
	case <-time.After(30 * time.Second):
		t.Fatal("no OTP was sent")
		return ""
	}
}
