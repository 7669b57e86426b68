// Package telemetry exports traces and metrics by OpenTelemetry (OTLP over HTTP) if the standard variables OTEL_* name a collector. Spans have route patterns,
// SQL without values, ids and outcomes, and no personal data: no path, number, name, text or address.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
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

// enabled reports whether the variables OTEL_* ask for the export of a signal: TRACES or METRICS.
func enabled(signal string) bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_"+signal+"_EXPORTER") == "none" {
		return false
	}
	return os.Getenv(endpoint) != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// checkProtocol refuses a protocol that this program does not have, so that it does not export to the wrong port.
func checkProtocol(signal string) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			return fmt.Errorf("%s is %s: this program exports by http/protobuf, to port 4318 of most collectors", name, protocol)
		}
	}
	return nil
}

// Exporter exports what a process does. Nil exports nothing.
type Exporter struct {
	resource *resource.Resource
	traces   *trace.TracerProvider
	metrics  *metric.MeterProvider
}

// Open returns an Exporter, or nil if no variable OTEL_* names a collector. It does not connect. Call Close afterwards.
func Open(ctx context.Context, build buildinfo.Info, log *slog.Logger) (*Exporter, error) {
	if !enabled("TRACES") && !enabled("METRICS") {
		return nil, nil
	}
	// A later part wins: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
	described, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "touchline"), attribute.String("service.version", build.Release)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(&errorLog{log: log})
	e := &Exporter{resource: described}
	if enabled("TRACES") {
		if err := checkProtocol("TRACES"); err != nil {
			return nil, err
		}
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("export traces: %w", err)
		}
		e.traces = trace.NewTracerProvider(trace.WithResource(described), trace.WithBatcher(exporter)) // OTEL_TRACES_SAMPLER, OTEL_BSP_…
	}
	return e, nil
}

// ExportMetrics exports what the gatherer has, each OTEL_METRIC_EXPORT_INTERVAL (a minute).
func (e *Exporter) ExportMetrics(ctx context.Context, from prometheus.Gatherer) error {
	if e == nil || !enabled("METRICS") {
		return nil
	}
	if err := checkProtocol("METRICS"); err != nil {
		return err
	}
	exporter, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return fmt.Errorf("export metrics: %w", err)
	}
	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(from))))
	e.metrics = metric.NewMeterProvider(metric.WithResource(e.resource), metric.WithReader(reader))
	return nil
}

// Tracer returns the tracer of the process, nil if it exports no traces.
func (e *Exporter) Tracer() *Tracer {
	if e == nil || e.traces == nil {
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
	var errs []error
	if e.traces != nil {
		errs = append(errs, e.traces.Shutdown(ctx))
	}
	if e.metrics != nil {
		errs = append(errs, e.metrics.Shutdown(ctx))
	}
	return errors.Join(errs...)
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
		l.log.Warn("export telemetry: it is lost; check OTEL_EXPORTER_OTLP_ENDPOINT and the collector", "error", err)
	}
}
