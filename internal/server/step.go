package server

import (
	"context"
	"net/http"
	"time"
)

// Handlers returns what the two listeners serve. Handlers and Work are for simulations; a service runs Serve.
func (a *App) Handlers() (public, operators http.Handler) { return a.api, a.admin }

// Work does the background work that is due now; see worker.Worker.Once.
func (a *App) Work(ctx context.Context, longest time.Duration) { a.worker.Once(ctx, longest) }
