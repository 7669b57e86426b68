package server

import (
	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

func newFees(cfg *config.Config, o Options, db *store.DB, operators operatorServices) *team.Fees {
	return &team.Fees{
		Store: db, DefaultCurrency: currencyOf(cfg.DefaultRegion), CheckFeature: operators.Subscriptions.CheckFeature, Now: o.Now, NewID: o.NewID,
	}
}

// currencyOf returns the currency of a country, or INR if it is unknown.
func currencyOf(region string) string {
	r, err := language.ParseRegion(region)
	if err == nil {
		if unit, ok := currency.FromRegion(r); ok && team.KnownCurrency(unit.String()) {
			return unit.String()
		}
	}
	return "INR"
}
