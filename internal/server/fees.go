package server

import (
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

func newFees(cfg *config.Config, o Options, db *store.DB, operators operatorServices) *team.Fees {
	return &team.Fees{
		Store: db, DefaultCurrency: config.RegionCurrency(cfg.DefaultRegion), CheckFeature: operators.Subscriptions.CheckFeature, Now: o.Now, NewID: o.NewID,
	}
}
