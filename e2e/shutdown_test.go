package e2e_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/store/storetest"
)

// unlimited turns off the limits per client address and in total.
var unlimited = []string{"TOUCHLINE_OTP_SENDS_PER_ADDRESS_HOUR=0", "TOUCHLINE_OTP_SENDS_TOTAL_HOUR=0", "TOUCHLINE_REQUESTS_PER_ADDRESS_MINUTE=0"}

// TestShutdownLosesNoRequest: clients behind a load balancer, which stops sending
// soon after /readyz answers 503, get a response to every request, on kept-alive and
// on new connections.
func TestShutdownLosesNoRequest(t *testing.T) {
	t.Parallel()
	p := startServer(t, append(unlimited, "TOUCHLINE_SHUTDOWN_DRAIN=3s")...)
	var answered, answeredWhileDraining atomic.Int32
	var draining atomic.Bool
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for c := range 8 {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: c%2 == 0}, Timeout: waitLimit}
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				wasDraining := draining.Load()
				status, err := post(client, p.url+"/auth/request-otp", fmt.Sprintf(`{"mobile_number": "+91987%d%06d"}`, c, n))
				if err != nil || status != 202 {
					t.Errorf("client %d, request %d: got %d, %v; want 202", c, n, status, err)
					return
				}
				answered.Add(1)
				if wasDraining {
					answeredWhileDraining.Add(1)
				}
			}
		})
	}
	eventually(t, "200 requests are answered", func() bool { return answered.Load() > 200 })
	p.interrupt()
	eventually(t, "/readyz answers 503", func() bool { status, _, _ := p.get("/readyz"); return status == 503 })
	draining.Store(true)
	time.Sleep(500 * time.Millisecond) // the load balancer notices
	close(stop)
	clients.Wait()
	if code := p.wait(waitLimit); code != 0 {
		t.Errorf("got exit code %d: %s", code, p.stderrText())
	}
	if answeredWhileDraining.Load() == 0 {
		t.Error("no request was answered while the replica drained")
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://")); err == nil {
		conn.Close()
		t.Error("the listener accepts connections after the exit")
	}
}

// TestShutdownClosesKeptConnections: while the replica drains, each response asks the
// client to close its connection.
func TestShutdownClosesKeptConnections(t *testing.T) {
	t.Parallel()
	p := startServer(t, "TOUCHLINE_SHUTDOWN_DRAIN=10m")
	p.interrupt()
	eventually(t, "/readyz answers 503", func() bool { status, _, _ := p.get("/readyz"); return status == 503 })
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	all, err := io.ReadAll(conn) // ends because the server closes the connection
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 200 ") || !strings.Contains(string(all), "Connection: close") {
		t.Errorf("got %q, %v; want 200 with Connection: close", all, err)
	}
}

// TestDrainLogsNoWarning: the checks of a load balancer during a planned shutdown are no
// warnings. Only the start of a development server has one.
func TestDrainLogsNoWarning(t *testing.T) {
	t.Parallel()
	p := startServer(t, "TOUCHLINE_SHUTDOWN_DRAIN=2s")
	p.interrupt()
	eventually(t, "/readyz answers 503", func() bool { status, _, _ := p.get("/readyz"); return status == 503 })
	if status, _, err := p.get("/healthz"); status != 200 {
		t.Errorf("/healthz while draining: got %d, %v; want 200", status, err)
	}
	if code := p.wait(waitLimit); code != 0 {
		t.Errorf("got exit code %d", code)
	}
	if text := strings.Replace(p.stderrText(), `level=WARN msg="this is a development server`, "", 1); strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") {
		t.Errorf("got warnings in the log:\n%s", text)
	}
}

func post(client *http.Client, address, body string) (status int, err error) {
	resp, err := client.Post(address, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// TestStopWaitsForRequests: a stopping replica answers a request whose body is
// still being sent.
func TestStopWaitsForRequests(t *testing.T) {
	t.Parallel()
	p := startServer(t, append(unlimited, "TOUCHLINE_SHUTDOWN_DRAIN=0s")...)
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	const body = `{"mobile_number": "+919812300001"}`
	fmt.Fprintf(conn, "POST /auth/request-otp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	const reads = "HTTP/1.1 100 Continue\r\n\r\n"
	if got, err := io.ReadAll(io.LimitReader(conn, int64(len(reads)))); string(got) != reads {
		t.Fatalf("got %q, %v; want %q", got, err, reads)
	}
	fmt.Fprint(conn, body[:10])
	p.interrupt()
	eventually(t, "the listener is closed", func() bool {
		refused, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err == nil {
			_ = refused.Close()
		}
		return err != nil
	})
	fmt.Fprint(conn, body[10:])
	all, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 202 ") {
		t.Errorf("got %q, %v, want 202", all, err)
	}
	if code := p.wait(waitLimit); code != 0 {
		t.Errorf("got exit code %d: %s", code, p.stderrText())
	}
}

// TestSecondSignal: a second signal ends the drain at once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	p := startServer(t, "TOUCHLINE_SHUTDOWN_DRAIN=10m")
	p.interrupt()
	eventually(t, "the server drains", func() bool { status, _, _ := p.get("/readyz"); return status == 503 })
	p.interrupt()
	if code := p.wait(waitLimit); code == 0 {
		t.Error("got exit code 0 after a second signal")
	}
}

// TestNoConfiguration: without settings the service runs in development mode,
// prints its address and the codes.
func TestNoConfiguration(t *testing.T) {
	t.Parallel()
	p := startServer(t) // only the port is set, because the default may be in use
	status, _, body := p.post("/auth/request-otp", `{"mobile_number": "98123 00001"}`)
	if status != 202 {
		t.Fatalf("got %d %s", status, body)
	}
	code := regexp.MustCompile(`\b(\d{6}) is your`)
	eventually(t, "the code is printed", func() bool { return code.MatchString(p.stdout.String()) })
	output := p.stdout.String()
	if !strings.Contains(output, "development") || !strings.Contains(output, p.url+"/docs") {
		t.Errorf("got output %q", output)
	}
	otp := code.FindStringSubmatch(output)[1]
	if status, _, body := p.post("/auth/login", `{"mobile_number": "98123 00001", "otp": "`+otp+`"}`); status != 200 {
		t.Errorf("got %d %s", status, body)
	}
	if strings.Contains(p.stderrText(), otp) || strings.Contains(p.stderrText(), "9812300001") {
		t.Errorf("the log contains a code or number: %s", p.stderrText())
	}
	if info, err := os.Stat(filepath.Join(p.dir, "touchline-data", "master.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("master key file: %v, %v", info, err)
	}
	p.interrupt()
	if code := p.wait(waitLimit); code != 0 {
		t.Errorf("got exit code %d: %s", code, p.stderrText())
	}
}

// TestInvalidSettings: every invalid setting is reported, and no file is created.
func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	tiers := filepath.Join(t.TempDir(), "tiers.json")
	if err := os.WriteFile(tiers, []byte(`{"tiers": [{"name": "A"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := []string{
		"TOUCHLINE_OTP_LENGTH=99", "TOUCHLINE_SMS=pigeon", "TOUCHLINE_LINK_VALIDITY=soon", "TOUCHLINE_COUNTRIES=Narnia", "TOUCHLINE_MASTER_KEY=c2hvcnQ=",
		"TOUCHLINE_TIERS=" + tiers, "TOUCHLINE_CLAMAV_FILE=none", "TOUCHLINE_FILES_FILE=" + filepath.Join(filepath.Dir(tiers), "absent"),
	}
	for _, command := range []string{"serve", "migrate", "config", "admin token list"} {
		p := launch(t, t.TempDir(), strings.Fields(command), settings...)
		if code := p.wait(waitLimit); code != 2 {
			t.Errorf("%s: got exit code %d, want 2", command, code)
		}
		for _, s := range settings {
			if name, _, _ := strings.Cut(s, "="); !strings.Contains(p.stderrText(), name) {
				t.Errorf("%s does not report %s: %s", command, name, p.stderrText())
			}
		}
		if strings.Contains(p.stderrText()+p.stdout.String(), "c2hvcnQ=") {
			t.Errorf("%s prints the key", command)
		}
		if n := strings.Count(p.stderrText(), "/tiers/0/"); n < 2 {
			t.Errorf("%s reports %d faults of the tiers, want at least 2: %s", command, n, p.stderrText())
		}
		p.wantEmptyDir()
	}
	p := launch(t, t.TempDir(), []string{"config", "--help"})
	if code := p.wait(waitLimit); code != 0 || !strings.Contains(p.stdout.String(), "TOUCHLINE_TIERS") {
		t.Errorf("help: got exit code %d, %s", code, p.stderrText())
	}
	for _, args := range [][]string{{}, {"sevre"}, {"serve", "--otp-lenght=6"}} {
		p := launch(t, t.TempDir(), args)
		if code := p.wait(waitLimit); code != 2 || p.stderrText() == "" {
			t.Errorf("%q: got exit code %d, %q", args, code, p.stderrText())
		}
		p.wantEmptyDir()
	}
}

// wantEmptyDir fails the test if the process left a file in its directory.
func (p *process) wantEmptyDir() {
	p.Helper()
	if left, err := os.ReadDir(p.dir); err != nil || len(left) > 0 {
		p.Errorf("files left: %v, %v", left, err)
	}
}

// TestCommands covers the commands migrate and config.
func TestCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		p := launch(t, dir, []string{"migrate"})
		if code := p.wait(waitLimit); code != 0 || !strings.Contains(p.stdout.String(), "up to date") {
			t.Fatalf("got exit code %d: %s %s", code, p.stdout, p.stderrText())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "touchline-data", "touchline.db")); err != nil {
		t.Error(err)
	}
	empty := t.TempDir()
	p := launch(t, empty, []string{"config"}, "TOUCHLINE_OTP_LENGTH=8", "TOUCHLINE_DATABASE_URL=postgres://me:S3NT1NEL@db/touchline")
	if code := p.wait(waitLimit); code != 0 {
		t.Fatalf("got exit code %d: %s", code, p.stderrText())
	}
	output := p.stdout.String()
	if !strings.Contains(output, "TOUCHLINE_OTP_LENGTH") || !strings.Contains(output, "TOUCHLINE_LINK_VALIDITY") || strings.Contains(output, "S3NT1NEL") {
		t.Errorf("got output %s", output)
	}
	p.wantEmptyDir()
}

// TestStartRefusesMissingMasterKeyFile: at a mistyped MASTER_KEY_FILE no command makes a master key, and doctor says so. The
// default path is made, and the log says where.
func TestStartRefusesMissingMasterKeyFile(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, address string) {
		dir := t.TempDir()
		mistyped := filepath.Join(dir, "master.kye")
		settings := []string{"TOUCHLINE_ADDR=127.0.0.1:0", "TOUCHLINE_DATABASE_URL=" + address, "TOUCHLINE_DATA_DIR=" + filepath.Join(dir, "data")}
		for _, command := range [][]string{{"serve"}, {"doctor"}, {"migrate"}, {"config"}, {"keys", "list"}} {
			p := launch(t, dir, command, append(slices.Clone(settings), "TOUCHLINE_MASTER_KEY_FILE="+mistyped)...)
			if code := p.wait(waitLimit); code != 2 || !strings.Contains(p.stderrText(), "TOUCHLINE_MASTER_KEY_FILE="+mistyped+": cannot be read: the file does not exist") ||
				!strings.Contains(p.stderrText(), "openssl rand -base64 32 > "+mistyped) {
				t.Errorf("%v: got exit code %d: %s", command, code, p.stderrText())
			}
		}
		p := launch(t, dir, []string{"doctor"}, settings...)
		if code := p.wait(waitLimit); !strings.HasPrefix(address, "sqlite:") && (code != 0 || !strings.Contains(p.stdout.String(), "and the master key in "+filepath.Join(dir, "data", "master.key"))) {
			t.Errorf("doctor on an empty database: got exit code %d: %s", code, p.stdout.String())
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("the folder has %v, %v; want nothing", entries, err)
		}
		p = launch(t, dir, []string{"serve"}, settings...)
		p.waitUntilServing()
		if !strings.Contains(p.stderrText(), "so is its master key") || !strings.Contains(p.stderrText(), filepath.Join(dir, "data", "master.key")) {
			t.Errorf("the log does not name the new key: %s", p.stderrText())
		}
	})
}

// TestStartRefusesWrongMasterKey: a replica that cannot decrypt the database's
// data does not start.
func TestStartRefusesWrongMasterKey(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, address string) {
		database := "TOUCHLINE_DATABASE_URL=" + address
		first := startServer(t, database)
		replicas := []*process{first}
		if strings.HasPrefix(address, "sqlite:") { // one process serves a SQLite database
			replicas = nil
			first.interrupt()
			first.wait(waitLimit)
		}
		other := launch(t, t.TempDir(), []string{"serve"}, "TOUCHLINE_ADDR=127.0.0.1:0", database)
		if code := other.wait(waitLimit); code != 1 || !strings.Contains(other.stderrText(), "master key") {
			t.Errorf("got exit code %d: %s", code, other.stderrText())
		}
		if strings.Contains(other.stdout.String(), "answers at") {
			t.Error("the replica printed its address")
		}
		newKey := filepath.Join(other.dir, "touchline-data", "master.key")
		if _, err := os.Stat(newKey); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want no new master key file", newKey, err)
		}
		foreign := launch(t, t.TempDir(), []string{"serve"}, "TOUCHLINE_ADDR=127.0.0.1:0", database,
			"TOUCHLINE_MASTER_KEY="+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
		if code := foreign.wait(waitLimit); code != 1 || !strings.Contains(foreign.stderrText(), "wrong master key") {
			t.Errorf("got exit code %d: %s", code, foreign.stderrText())
		}
		same := launch(t, first.dir, []string{"serve"}, "TOUCHLINE_ADDR=127.0.0.1:0", database)
		same.waitUntilServing()
		for _, p := range append(replicas, same) {
			if status, _, body := p.get("/readyz"); status != 200 {
				t.Errorf("got %d %s", status, body)
			}
			p.interrupt()
			if code := p.wait(waitLimit); code != 0 {
				t.Errorf("got exit code %d: %s", code, p.stderrText())
			}
		}
	})
}

// TestPortInUse: if the port is in use, the error names it and no directory is
// created.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := launch(t, t.TempDir(), []string{"serve"}, "TOUCHLINE_ADDR="+l.Addr().String())
	if code := p.wait(waitLimit); code != 1 || !strings.Contains(p.stderrText(), l.Addr().String()) || !strings.Contains(p.stderrText(), "in use") {
		t.Errorf("got exit code %d: %s", code, p.stderrText())
	}
	p.wantEmptyDir()
}

// TestRestartAfterKill: acknowledged writes of a killed process are there after a
// restart.
func TestRestartAfterKill(t *testing.T) {
	t.Parallel()
	settings := append(unlimited, "TOUCHLINE_OTP_RESEND_AFTER=60s") // off in development
	p := startServer(t, settings...)
	if status, _, body := p.post("/auth/request-otp", `{"mobile_number": "+919812300001"}`); status != 202 {
		t.Fatalf("got %d %s", status, body)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait(waitLimit)
	next := launch(t, p.dir, []string{"serve"}, append(settings, "TOUCHLINE_ADDR=127.0.0.1:0")...)
	next.waitUntilServing()
	if status, _, body := next.post("/auth/request-otp", `{"mobile_number": "+919812300001"}`); status != 429 || !strings.Contains(body, "otp_resend_too_soon") {
		t.Errorf("got %d %s", status, body)
	}
}

// TestSecondServerOfSQLite: a second serve waits while the first shuts down, and refuses
// to start if it does not. Other commands run beside a server.
func TestSecondServerOfSQLite(t *testing.T) {
	t.Parallel()
	const address = "TOUCHLINE_ADDR=127.0.0.1:0"
	p := startServer(t, "TOUCHLINE_SHUTDOWN_DRAIN=0s")
	for _, settings := range [][]string{
		{address, "TOUCHLINE_SHUTDOWN_DRAIN=0s"},
		{address, "TOUCHLINE_SHUTDOWN_DRAIN=1s", "TOUCHLINE_DATABASE_URL=sqlite:./touchline-data/../touchline-data/touchline.db"},
	} {
		start := time.Now()
		second := launch(t, p.dir, []string{"serve"}, settings...)
		if code := second.wait(waitLimit); code != 1 || !strings.Contains(second.stderrText(), "another process serves this SQLite database") {
			t.Errorf("%v: got exit code %d: %s", settings, code, second.stderrText())
		}
		if took := time.Since(start); took < 2*time.Second {
			t.Errorf("%v: the second server gave up after %s", settings, took)
		}
		if strings.Contains(second.stdout.String(), "answers at") {
			t.Errorf("%v: the second server printed its address", settings)
		}
	}
	for _, command := range []string{"migrate", "config", "admin token list"} {
		c := launch(t, p.dir, strings.Fields(command))
		if code := c.wait(waitLimit); code != 0 {
			t.Errorf("%s: got exit code %d: %s", command, code, c.stderrText())
		}
	}
	if status, _, body := p.get("/readyz"); status != 200 {
		t.Errorf("first server: got %d %s", status, body)
	}

	next := launch(t, p.dir, []string{"serve"}, address, "TOUCHLINE_SHUTDOWN_DRAIN=1m")
	eventually(t, "the next server waits", func() bool { return strings.Contains(next.stderrText(), "wait until it stops") })
	p.interrupt()
	if code := p.wait(waitLimit); code != 0 {
		t.Errorf("got exit code %d: %s", code, p.stderrText())
	}
	next.waitUntilServing()
	if status, _, body := next.get("/readyz"); status != 200 {
		t.Errorf("next server: got %d %s", status, body)
	}
}
