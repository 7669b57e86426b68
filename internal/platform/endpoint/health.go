package endpoint

import (
	"context"

	"github.com/touchline/touchline/internal/platform/fault"
)

type health struct {
	Status string `json:"status"`
	// AppServices is "off" while the service gives no app services to families, and Reason says why.
	AppServices string `json:"app_services,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// Healthy is the response of a running process.
func Healthy() Response {
	return OK(health{Status: "ok"}).WithHeader("Cache-Control", "no-store")
}

// Ready is Healthy, or unavailable if check returns an error; nil is always ready. It says why the app services are off if limited
// returns a reason: the rest of the service goes on, so load balancers must not take that for a failure.
func Ready(ctx context.Context, check func(context.Context) error, limited func() string) (Response, error) {
	resp := Healthy()
	if limited != nil {
		if reason := limited(); reason != "" {
			resp = OK(health{"ok", "off", reason}).WithHeader("Cache-Control", "no-store")
		}
	}
	if check != nil {
		if err := check(ctx); err != nil {
			return resp, fault.Down(err)
		}
	}
	return resp, nil
}
