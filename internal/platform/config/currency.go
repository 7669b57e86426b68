package config

import (
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
)

// newerCurrencies has the countries for which x/text has a former currency.
var newerCurrencies = map[string]string{"BG": "EUR", "CW": "XCG", "HR": "EUR", "MR": "MRU", "SL": "SLE", "SX": "XCG", "VE": "VES"}

// RegionCurrency returns the ISO 4217 currency of an ISO 3166 country, or INR if the country
// is unknown.
func RegionCurrency(region string) string {
	if code, ok := newerCurrencies[region]; ok {
		return code
	}
	if r, err := language.ParseRegion(region); err == nil {
		if unit, ok := currency.FromRegion(r); ok {
			return unit.String()
		}
	}
	return "INR"
}

func isCurrency(code string) bool {
	unit, err := currency.ParseISO(code)
	return err == nil && unit.String() == code
}
