package server

import (
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/worker"
)

// watched is what the services are given: the store, counted where somebody may
// ask for the figures.
type watched struct {
	auth      auth.Store
	approvals approval.Store
	outbox    worker.Store

	metrics           http.Handler
	public, operators func(method string, info *httpx.RequestInfo, took time.Duration)
}

// watch counts where there is a listener to ask; else it costs nothing.
func (a *App) watch(lanes []notify.Lane) watched {
	if !a.cfg.AdminOn() {
		return watched{auth: a.db, approvals: a.db, outbox: a.db}
	}
	m := metrics.New(a.db, lanes, a.edges.Now)
	return watched{
		auth: m.Auth(a.db), approvals: m.Approvals(a.db), outbox: m.Outbox(a.db),
		metrics: m.Handler(), public: m.Observe("public"), operators: m.Observe("operators"),
	}
}
