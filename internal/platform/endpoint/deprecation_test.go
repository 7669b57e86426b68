package endpoint_test

import (
	"context"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
)

func TestDeprecation(t *testing.T) {
	since := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	ends := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name                 string
		deprecated           endpoint.Deprecation
		err                  error
		deprecation, endDate string
	}{
		{"current", endpoint.Deprecation{}, nil, "", ""},
		{"without an end", endpoint.Deprecation{Since: since}, nil, "@1798761600", ""},
		{"with an end", endpoint.Deprecation{Since: since, Ends: ends}, nil, "@1798761600", "Sat, 01 Jan 2028 00:00:00 GMT"},
		{"a problem", endpoint.Deprecation{Since: since, Ends: ends}, fault.Missing(), "@1798761600", "Sat, 01 Jan 2028 00:00:00 GMT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := send(handlerFor(route{Method: "GET", Pattern: "/thing", Deprecated: tt.deprecated, Handle: endpoint.Handle(
				func(context.Context, request[struct{}]) (response, error) { return endpoint.OK(1), tt.err })}), "GET", "/thing", "").Header()
			if got, end := h.Get("Deprecation"), h.Get("Sunset"); got != tt.deprecation || end != tt.endDate {
				t.Errorf("got %q and %q, want %q and %q", got, end, tt.deprecation, tt.endDate)
			}
		})
	}
}
