package e2e_test

import (
	"bufio"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// TestWebhookSample: the sample receiver answers a request without a body, and one without a
// Content-Length.
func TestWebhookSample(t *testing.T) {
	t.Parallel()
	python := programtest.Python.Need(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(address)
	receiver := exec.Command(python, "../docs/samples/receive_webhooks.py", port)
	receiver.Env = []string{"SECRET=whsec_cnJycnJycnJycnJycnJycnJycnJycnJycnJycnJycnI=", "PATH=/usr/local/bin:/usr/bin:/bin"}
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = receiver.Process.Kill()
		_ = receiver.Wait()
	})
	for _, headers := range []string{"", "Content-Length: 0\r\n", "Content-Length: x\r\n", "webhook-id: 1\r\nwebhook-timestamp: 1\r\nwebhook-signature: v1,\r\n"} {
		var conn net.Conn
		for end := time.Now().Add(waitLimit); time.Now().Before(end); {
			if conn, err = net.Dial("tcp", address); err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, err = conn.Write([]byte("POST /hooks HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		status, err := bufio.NewReader(conn).ReadString('\n')
		if !strings.Contains(status, " 401 ") {
			t.Errorf("with %q: got %q, %v, want 401", headers, status, err)
		}
		_ = conn.Close()
	}
}
