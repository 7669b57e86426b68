package worker

import (
	"errors"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/telemetry"
)

// attemptOf describes an attempt at a message for its span.
func attemptOf(deliveries []message.Delivery) telemetry.Attempt {
	d := deliveries[0]
	a := telemetry.Attempt{Channel: string(d.Channel), Kind: string(d.Kind), DeliveryID: d.ID, Number: d.Attempts}
	for _, each := range deliveries {
		a.Parents = append(a.Parents, each.TraceParent)
	}
	return a
}

// attemptAttrs are the attributes of the log line of an attempt at a delivery. trace_id and span_id are those of the
// request that asked for the message, request_id that of an approval request.
func attemptAttrs(d message.Delivery) []any {
	attrs := []any{
		"delivery", d.ID, "channel", d.Channel, "kind", d.Kind,
		"to", phone.Number(d.To), // logged masked; an address that is not a number is hidden entirely
		"attempt", d.Attempts,
	}
	if d.RequestID != "" {
		attrs = append(attrs, "request_id", d.RequestID)
	}
	if traceID, spanID := telemetry.IDs(d.TraceParent); traceID != "" {
		attrs = append(attrs, "trace_id", traceID, "span_id", spanID)
	}
	return attrs
}

// reasonOf returns why an attempt failed, in words that are safe to log.
func reasonOf(err error) string {
	if f, ok := errors.AsType[*message.SendError](err); ok {
		return f.Reason
	}
	return "unreachable"
}
