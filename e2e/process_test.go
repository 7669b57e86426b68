package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// buildBinary builds the touchline command once for all tests and returns its path. Without
// debug information it links in half the time.
var buildBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "touchline-e2e-")
	if err != nil {
		return "", err
	}
	binaryDir = dir
	path := filepath.Join(dir, "touchline")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "../cmd/touchline").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

var binaryDir string

// parallelTests replaces the default of -parallel (GOMAXPROCS), because these tests
// mostly wait: for polls, timeouts and commits.
const parallelTests = "8"

// gcPercent replaces the default of GOGC (100), with which garbage collection takes 8 % of the
// processor time of this process.
const gcPercent = 400

func TestMain(m *testing.M) {
	flag.Parse()
	parallelIsSet := false
	flag.Visit(func(f *flag.Flag) { parallelIsSet = parallelIsSet || f.Name == "test.parallel" })
	if !parallelIsSet {
		_ = flag.Set("test.parallel", parallelTests)
	}
	debug.SetGCPercent(gcPercent)
	code := m.Run()
	if binaryDir != "" {
		_ = os.RemoveAll(binaryDir)
	}
	os.Exit(code)
}

// process is a running touchline command in its own directory.
type process struct {
	*testing.T
	dir            string
	url            string // set when it serves
	cmd            *exec.Cmd
	stdout, stderr *output
	done           chan struct{}
}

// output collects the output of a process.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// launch runs a command of the binary in dir, with these settings only.
func launch(t *testing.T, dir string, args []string, settings ...string) *process {
	t.Helper()
	path, err := buildBinary()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	p := &process{T: t, dir: dir, stdout: new(output), stderr: new(output), done: make(chan struct{})}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir = dir
	p.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "TOUCHLINE_") }), settings...)
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

var listeningPattern = regexp.MustCompile(`answers at (http://\S+) `)

// startServer starts a server on a free loopback port and waits until it serves.
func startServer(t *testing.T, settings ...string) *process {
	t.Helper()
	p := launch(t, t.TempDir(), []string{"serve"}, append([]string{"TOUCHLINE_ADDR=127.0.0.1:0"}, settings...)...)
	p.waitUntilServing()
	return p
}

// waitUntilServing waits until the process prints its address.
func (p *process) waitUntilServing() {
	p.Helper()
	eventually(p.T, "the server starts", func() bool {
		select {
		case <-p.done:
			p.Fatalf("the server stopped: %s", p.stderrText())
		default:
		}
		m := listeningPattern.FindStringSubmatch(p.stdout.String())
		if m != nil {
			p.url = m[1]
		}
		return m != nil
	})
}

// stderrText returns what the process wrote to standard error.
func (p *process) stderrText() string { return p.stderr.String() }

// interrupt sends SIGTERM.
func (p *process) interrupt() {
	p.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.Fatal(err)
	}
}

// wait waits until the process ends and returns its exit code, -1 if a signal
// ended it.
func (p *process) wait(limit time.Duration) int {
	p.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.Fatalf("still running after %s: %s", limit, p.stderrText())
	}
	return p.cmd.ProcessState.ExitCode()
}

// get sends a GET request to the process.
func (p *process) get(path string) (int, http.Header, string) {
	p.Helper()
	return p.do(http.MethodGet, path, "")
}

func (p *process) post(path, body string) (int, http.Header, string) {
	p.Helper()
	return p.do(http.MethodPost, path, body)
}

func (p *process) do(method, path, body string) (int, http.Header, string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.Fatalf("%s %s: %v\n%s", method, path, err, p.stderrText())
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// TestVersionCommand: version and --version print the release and the commit.
func TestVersionCommand(t *testing.T) {
	t.Parallel()
	program, err := buildBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range []string{"version", "--version"} {
		out, err := exec.Command(program, argument).Output()
		if want := regexp.MustCompile(`^touchline \d+\.\d+\.\d+, commit ([0-9a-f]{12}(-modified)?|unknown), go1\.\S+\n$`); err != nil || !want.Match(out) {
			t.Errorf("%s: got %q, %v", argument, out, err)
		}
	}
}
