package telemetry

import (
	"context"
	"strings"
)

// ParentKey is the key under which the context of a request has a Parenter.
type ParentKey struct{}

// Parenter has the W3C traceparent of a request.
type Parenter interface{ TraceParent() string }

// Parent returns the traceparent of the request that ctx belongs to, "" in background work. It does not need a Tracer.
func Parent(ctx context.Context) string {
	if p, ok := ctx.Value(ParentKey{}).(Parenter); ok {
		return p.TraceParent()
	}
	return ""
}

// IDs returns the ids of the trace and of the span in a traceparent, "" if it is empty.
func IDs(traceparent string) (traceID, spanID string) {
	parts := strings.Split(traceparent, "-")
	if len(parts) != 4 {
		return "", ""
	}
	return parts[1], parts[2]
}
