package endpoint

import (
	"context"

	"github.com/touchline/touchline/internal/platform/fault"
)

type health struct {
	Status string `json:"status"`
}

// Healthy is the response of a running process.
func Healthy() Response {
	return OK(health{"ok"}).WithHeader("Cache-Control", "no-store")
}

// Ready is Healthy, or unavailable if check returns an error; nil is always ready.
func Ready(ctx context.Context, check func(context.Context) error) (Response, error) {
	resp := Healthy()
	if check != nil {
		if err := check(ctx); err != nil {
			return resp, fault.Down(err)
		}
	}
	return resp, nil
}
