package bench_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/baseline"
)

// BenchmarkFigures compares the operations with their bare rivals as bench/load does, in one run with interleaved rounds, and
// reports the ratios. One iteration is a whole comparison:
//
//	go test ./bench -run '^$' -bench Figures -benchtime 1x
func BenchmarkFigures(b *testing.B) {
	options := bench.Options{Rounds: 7, Round: time.Second, Workers: 8}
	for _, kind := range baseline.Kinds {
		for _, engine := range baseline.Engines {
			b.Run(kind.Name+"/"+engine, func(b *testing.B) {
				for b.Loop() {
					contenders, done, err := kind.Open(b.Context(), engine, options)
					if err != nil {
						b.Fatal(err)
					}
					result, err := bench.Compare(b.Context(), contenders, options)
					done()
					if err != nil {
						b.Fatal(err)
					}
					report(b, result)
				}
			})
		}
	}
}

func report(b *testing.B, result bench.Result) {
	last := result.Series[len(result.Series)-1]
	b.ReportMetric(last.Throughput(), "op/s")
	if cpu := last.CPUPerOperation(); cpu > 0 {
		b.ReportMetric(float64(cpu.Microseconds()), "CPU-µs/op")
		b.ReportMetric(float64(last.CPUPerOperation())/float64(result.Series[0].CPUPerOperation()), "CPU:known")
		return
	}
	b.ReportMetric(result.Ratio(baseline.Operation, baseline.Floor), "to-floor")
	b.ReportMetric(result.Ratio(baseline.Operation, baseline.Same), "to-same")
}

// BenchmarkHandlers times the handlers of the availability comparison without connections, one after the other, with their
// allocations: what to profile when the ratio is not what it should be.
func BenchmarkHandlers(b *testing.B) {
	for _, engine := range baseline.Engines {
		fixture, err := baseline.Open(context.Background(), engine)
		if err != nil {
			b.Fatal(err)
		}
		defer fixture.Close()
		contenders, err := fixture.Availability(context.Background(), bench.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range contenders {
			b.Run(engine+"/"+c.Name, func(b *testing.B) {
				b.ReportAllocs()
				next := c.Requests(0)
				for b.Loop() {
					w := &discard{header: http.Header{}}
					r := next()
					r.RemoteAddr = "127.0.0.1:1234"
					if r.Header == nil {
						r.Header = http.Header{}
					}
					c.Handler.ServeHTTP(w, r)
					if w.status > 299 {
						b.Fatal(w.status)
					}
				}
			})
		}
	}
}

// discard is an answer that goes nowhere.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return io.Discard.Write(p) }
