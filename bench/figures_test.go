package bench_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/baseline"
	"github.com/touchline/touchline/bench/program"
)

// BenchmarkFigures compares the operations with their baselines, as bench/load does. One iteration is a whole comparison:
//
//	go test ./bench -run '^$' -bench Figures -benchtime 1x
//
// op/s and the ratios to-floor and to-same: higher is better.
func BenchmarkFigures(b *testing.B) {
	options := bench.Options{Rounds: 7, Round: time.Second, Workers: 8}
	for _, kind := range baseline.Kinds {
		for _, engine := range program.Engines {
			b.Run(kind.Name+"/"+engine, func(b *testing.B) {
				for b.Loop() {
					contenders, closeAll, err := kind.Open(b.Context(), engine, options)
					if err != nil {
						b.Fatal(err)
					}
					result, err := bench.Compare(b.Context(), contenders, options)
					closeAll()
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
	b.ReportMetric(result.Series[len(result.Series)-1].Throughput(), "op/s")
	b.ReportMetric(result.Ratio(baseline.Operation, baseline.Floor), "to-floor")
	b.ReportMetric(result.Ratio(baseline.Operation, baseline.Same), "to-same")
}

// BenchmarkHandlers calls the handlers of the availability comparison without connections, one after the other. Use it to
// profile them. ns/op and allocations: lower is better.
func BenchmarkHandlers(b *testing.B) {
	for _, engine := range program.Engines {
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

// discard is a response writer that drops the body.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return io.Discard.Write(p) }
