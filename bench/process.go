package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx/http2test"
)

// Process is a server in a separate process, so that its CPU time and memory can be measured apart from the client's.
type Process struct {
	// Ready is the time from the start of the process to the first response with status 200.
	Ready time.Duration

	cmd    *exec.Cmd
	exited chan error
}

// Start runs cmd and returns when GET readyURL has status 200. When ctx ends first, it kills the command.
func Start(ctx context.Context, cmd *exec.Cmd, readyURL string) (*Process, error) {
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, exited: make(chan error, 1)}
	go func() { p.exited <- cmd.Wait() }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: http2test.AnyCertificate}}
	for {
		if isReady(ctx, client, readyURL) {
			p.Ready = time.Since(start)
			return p, nil
		}
		select {
		case err := <-p.exited:
			return nil, fmt.Errorf("%s ended before it was ready: %w", cmd.Path, errors.Join(err, ctx.Err()))
		case <-ctx.Done():
			cmd.Process.Kill() //nolint:errcheck // the process may have ended already
			<-p.exited
			return nil, fmt.Errorf("%s is not ready: %w", cmd.Path, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

func isReady(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop sends SIGTERM and waits for the process to end. When ctx ends first, it kills the process.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.exited:
		return err
	case <-ctx.Done():
		p.cmd.Process.Kill() //nolint:errcheck // the process may have ended already
		return errors.Join(<-p.exited, ctx.Err())
	}
}

// FreeAddress returns a loopback address that was free a moment ago, for a server to listen on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
