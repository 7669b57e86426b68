package bench_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/bench"
)

// childAddress is an environment variable. If it is set, this test binary is the server that the tests start.
const childAddress = "TOUCHLINE_BENCH_CHILD"

// spin is the CPU time that the child uses for each request.
const spin = 500 * time.Microsecond

func TestMain(m *testing.M) {
	if address := os.Getenv(childAddress); address != "" {
		serve(address)
		return
	}
	os.Exit(m.Run())
}

func serve(address string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /spin", func(http.ResponseWriter, *http.Request) {
		for until := time.Now().Add(spin); time.Now().Before(until); {
		}
	})
	go http.ListenAndServe(address, mux)
	<-ctx.Done()
}

func TestProcessUsage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the CPU time of another process is available on Linux only")
	}
	address, err := bench.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childAddress+"="+address)
	p, err := bench.Start(ctx, cmd, "http://"+address+"/readyz")
	if err != nil {
		t.Fatal(err)
	}
	result, err := bench.Compare(ctx, []bench.Contender{
		{Name: "spin", URL: "http://" + address, PID: p.PID(), Requests: get("/spin")},
	}, bench.Options{Rounds: 3, Round: 400 * time.Millisecond, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	// The child measures wall-clock time, so it uses less CPU time than spin if it waits for a core. The
	// rounds are long because Linux counts CPU time in steps of 10 ms.
	if cpu := result.Series[0].CPUPerOperation(); cpu < spin/10 {
		t.Errorf("one operation cost %s of CPU, want about %s", cpu, spin)
	}
	if p.Ready <= 0 {
		t.Errorf("ready after %s", p.Ready)
	}
	if resident, _, err := bench.Memory(p.PID()); err != nil || resident < 1<<20 {
		t.Errorf("%d bytes resident, %v", resident, err)
	}
	if err := p.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := bench.CPUTime(p.PID()); err == nil {
		t.Error("CPUTime of an ended process returned no error")
	}
}

func TestStartReportsAServerThatEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := bench.Start(ctx, exec.Command("false"), "http://127.0.0.1:1/readyz")
	if err == nil || !strings.Contains(err.Error(), "ended before it was ready") {
		t.Errorf("err = %v", err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := bench.Start(ctx, exec.Command("sleep", "60"), "http://127.0.0.1:1/readyz")
	if err == nil || !strings.Contains(err.Error(), "not ready") {
		t.Errorf("err = %v", err)
	}
}

func ExampleResult_Ratio() {
	round := func(operations int) bench.Sample {
		return bench.Sample{Operations: operations, Elapsed: time.Second}
	}
	result := bench.Result{Series: []bench.Series{
		{Name: "same statements", Rounds: []bench.Sample{round(100), round(50), round(100)}},
		{Name: "operation", Rounds: []bench.Sample{round(90), round(45), round(20)}},
	}}
	fmt.Printf("%.1f\n", result.Ratio("operation", "same statements"))
	// Output: 0.9
}
