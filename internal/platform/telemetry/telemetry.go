// Package telemetry exports traces by OpenTelemetry (OTLP over HTTP) if the standard variables OTEL_* name a collector. Spans have route patterns,
// SQL without values, ids and outcomes, and no personal data: no path, number, name, text or address. Metrics are at /metrics, where a collector reads them.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/touchline/touchline/internal/platform/buildinfo"
)

const (
	endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	// flushTimeout limits the last export of a process.
	flushTimeout = 5 * time.Second
	// warnInterval is the least time between two warnings of exports that fail.
	warnInterval = time.Minute
)

// enabled reports whether the variables OTEL_* ask for the export of traces.
func enabled() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv(endpoint) != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Exporter exports what a process does. Nil exports nothing.
type Exporter struct{ traces *trace.TracerProvider }

// Open returns an Exporter, or nil if no variable OTEL_* names a collector. It does not connect. Call Close afterwards.
func Open(ctx context.Context, build buildinfo.Info, log *slog.Logger) (*Exporter, error) {
	if !enabled() {
		return nil, nil
	}
	if protocol := variable("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %s: this program exports by http/protobuf, to port 4318 of most collectors", protocol)
	}
	// A later part wins: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
	described, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "touchline"), attribute.String("service.version", build.Release)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	client, err := newCollector()
	if err != nil {
		return nil, fmt.Errorf("export traces: %w", err)
	}
	otel.SetErrorHandler(&errorLog{log: log})
	exporter := otlptrace.NewUnstarted(client)                                                                 // Start of a collector does nothing
	return &Exporter{trace.NewTracerProvider(trace.WithResource(described), trace.WithBatcher(exporter))}, nil // OTEL_TRACES_SAMPLER, OTEL_BSP_…
}

// Tracer returns the tracer of the process, nil if it exports no traces.
func (e *Exporter) Tracer() *Tracer {
	if e == nil {
		return nil
	}
	return &Tracer{e.traces.Tracer("github.com/touchline/touchline")}
}

// Close exports what is left, for at most flushTimeout.
func (e *Exporter) Close() error {
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	return e.traces.Shutdown(ctx)
}

// errorLog logs failed exports.
type errorLog struct {
	log    *slog.Logger
	mu     sync.Mutex
	warned time.Time
}

// Handle implements otel.ErrorHandler.
func (l *errorLog) Handle(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.warned) >= warnInterval {
		l.warned = now
		l.log.Warn("export traces: they are lost; check OTEL_EXPORTER_OTLP_ENDPOINT and the collector", "error", err)
	}
}
