package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Tracer makes spans. A nil Tracer makes none.
type Tracer struct{ tracer trace.Tracer }

// Request is the span of a request.
type Request struct{ span trace.Span }

// Request begins the span of a request, below the span of a client's traceparent if that is valid. t must not be nil.
func (t *Tracer) Request(ctx context.Context, traceparent string) (context.Context, Request) {
	if traceparent != "" {
		ctx = remote(ctx, traceparent)
	}
	ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Request{span}
}

// ID returns the ids of the span, and whether it is exported.
func (r Request) ID() (traceID string, spanID [8]byte, sampled bool) {
	c := r.span.SpanContext()
	return c.TraceID().String(), c.SpanID(), c.IsSampled()
}

// End ends the span. The path is not in it, because it may hold a secret.
func (r Request) End(method, route string, status int) {
	if !r.span.IsRecording() {
		return
	}
	name := method
	if route != "" {
		name += " " + route
	}
	r.span.SetName(name)
	r.span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
	if status >= 500 {
		r.span.SetStatus(codes.Error, "")
	}
	r.span.End()
}

// Statement begins the span of an SQL statement, below the span of ctx. The result is nil if nothing is recorded: background work that polls has no span.
// Statements have parameters in place of values, so the text holds no personal data.
func (t *Tracer) Statement(ctx context.Context, system, query string) (end func(error)) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return nil
	}
	query = strings.TrimSpace(query)
	operation, target := nameOf(query)
	_, span := t.tracer.Start(ctx, strings.TrimSpace(operation+" "+target), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("db.system.name", system), attribute.String("db.operation.name", operation), attribute.String("db.collection.name", target),
		attribute.String("db.query.text", query[:min(len(query), maxQuery)]),
	))
	return func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "") // the error may hold values
		}
		span.End()
	}
}

// maxQuery limits the text of a statement in a span, in bytes.
const maxQuery = 2000

// nameOf returns the operation of a statement and its first table.
func nameOf(query string) (operation, table string) {
	words := strings.FieldsSeq(query[:min(len(query), maxQuery)])
	next := false
	for word := range words {
		switch {
		case operation == "":
			operation = strings.ToUpper(word)
			next = operation == "UPDATE"
		case next:
			return operation, strings.Trim(word, "(),")
		case word == "FROM", word == "INTO":
			next = true
		}
	}
	return operation, ""
}

// Attempt is an attempt to deliver a message.
type Attempt struct {
	Channel, Kind, DeliveryID string
	// Number is 1 for the first attempt.
	Number int
	// Parents are the traceparents of the requests that asked for the message; empty ones are left out. The attempt belongs to the trace of the first one.
	Parents []string
}

// Attempt begins the span of an attempt. end gets the outcome, and why the attempt failed in words without personal data.
func (t *Tracer) Attempt(ctx context.Context, a Attempt) (spanCtx context.Context, end func(outcome, reason string)) {
	if t == nil {
		return ctx, func(string, string) {}
	}
	var links []trace.Link
	own := false
	for _, parent := range a.Parents {
		from := trace.SpanContextFromContext(remote(context.Background(), parent))
		switch {
		case !from.IsValid():
		case !own:
			ctx, own = trace.ContextWithRemoteSpanContext(ctx, from), true
		default:
			links = append(links, trace.Link{SpanContext: from})
		}
	}
	ctx, span := t.tracer.Start(ctx, "deliver "+a.Kind+" by "+a.Channel, trace.WithSpanKind(trace.SpanKindProducer), trace.WithLinks(links...), trace.WithAttributes(
		attribute.String("touchline.channel", a.Channel), attribute.String("touchline.kind", a.Kind),
		attribute.String("touchline.delivery_id", a.DeliveryID), attribute.Int("touchline.attempt", a.Number),
	))
	return ctx, func(outcome, reason string) {
		span.SetAttributes(attribute.String("touchline.outcome", outcome))
		if reason != "" {
			span.SetStatus(codes.Error, reason)
		}
		span.End()
	}
}

// remote returns ctx with the span of a W3C traceparent, or ctx if it is invalid.
func remote(ctx context.Context, traceparent string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}
