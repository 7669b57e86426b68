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
)

// Process is a server that runs beside the measurement, so that its CPU time and its memory are its own.
type Process struct {
	// Ready is how long the server took from being started to its first answer of 200.
	Ready time.Duration

	cmd    *exec.Cmd
	exited chan error
}

// Start runs cmd and returns once a GET of readyURL answers 200. It is given up, and the command killed, when ctx ends.
func Start(ctx context.Context, cmd *exec.Cmd, readyURL string) (*Process, error) {
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, exited: make(chan error, 1)}
	go func() { p.exited <- cmd.Wait() }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		if answers200(ctx, client, readyURL) {
			p.Ready = time.Since(start)
			return p, nil
		}
		select {
		case err := <-p.exited:
			return nil, fmt.Errorf("%s ended before it was ready: %w", cmd.Path, errors.Join(err, ctx.Err()))
		case <-ctx.Done():
			cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
			<-p.exited
			return nil, fmt.Errorf("%s is not ready: %w", cmd.Path, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

func answers200(ctx context.Context, client *http.Client, url string) bool {
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

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop asks the process to end with SIGTERM and waits; one that has not ended when ctx does is killed.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.exited:
		return err
	case <-ctx.Done():
		p.cmd.Process.Kill() //nolint:errcheck // it may just have ended
		return errors.Join(<-p.exited, ctx.Err())
	}
}

// FreeAddress is a loopback address on which nothing listens, to tell a server to listen on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
