package server

import (
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/buildinfo"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/worker"
)

// instruments are the stores that count what the services do, and the functions that
// count requests.
type instruments struct {
	auth      auth.Store
	approvals approval.Store
	outbox    worker.Store

	metrics                  http.Handler
	observeAPI, observeAdmin func(method string, info *httpx.RequestInfo, took time.Duration)
}

// instrument wraps the stores in metrics. Without an operators' listener, which serves
// the metrics, it returns the stores as they are.
func instrument(cfg *config.Config, o Options, db *store.DB, lanes []notify.Lane) instruments {
	if !cfg.AdminOn() {
		return instruments{auth: db, approvals: db, outbox: db}
	}
	m := metrics.New(buildinfo.Read(), db, lanes, o.Now)
	return instruments{
		auth: m.Auth(db), approvals: m.Approvals(db), outbox: m.Outbox(db),
		metrics: m.Handler(), observeAPI: m.Observe("public"), observeAdmin: m.Observe("operators"),
	}
}
