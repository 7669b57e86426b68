package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Money is an amount of SMS_BUDGET or SMS_PRICES in 1/10,000 of the unit of their currency. 0 as
// a budget is no limit.
type Money int64

const (
	moneyUnit     = 10_000
	moneyDecimals = 4
	// maxMoney is 10 million, so that sums of amounts fit into 64 bits.
	maxMoney = 10_000_000 * moneyUnit
)

// Units returns the amount in units of the currency.
func (m Money) Units() float64 { return float64(m) / moneyUnit }

// String returns the amount as an operator would write it, such as 0.12.
func (m Money) String() string {
	return strconv.FormatFloat(m.Units(), 'f', -1, 64)
}

var errMoney = errors.New("must be an amount such as 500 or 0.12, with at most 4 decimals, up to 10000000")

func parseMoney(text string) (Money, error) {
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > moneyDecimals {
		return 0, errMoney
	}
	n, err := strconv.ParseUint(whole+decimals+strings.Repeat("0", moneyDecimals-len(decimals)), 10, 63)
	if err != nil || whole == "" || n > maxMoney {
		return 0, errMoney
	}
	return Money(n), nil
}

// parseBudget parses an amount or none.
func parseBudget(text string) (any, error) {
	if text == none {
		return Money(0), nil
	}
	m, err := parseMoney(text)
	return m, err
}

// SMSPrice is the price of an SMS segment to a country. The country * is every other one.
type SMSPrice struct {
	Country string
	Price   Money
	// Currency is empty for the currency of DEFAULT_REGION.
	Currency string
}

// String returns the price as an operator would write it.
func (p SMSPrice) String() string { return p.Country + "=" + p.Price.String() + p.Currency }

// parsePrices parses <country>=<price><currency> of each segment.
func parsePrices(text string) (any, error) {
	var prices []SMSPrice
	var errs []error
	for _, part := range parseList(text) {
		country, price, _ := strings.Cut(part, "=")
		country = strings.ToUpper(strings.TrimSpace(country))
		price = strings.TrimSpace(price)
		number := strings.TrimRight(price, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		amount, err := parseMoney(number)
		p := SMSPrice{country, amount, price[len(number):]}
		switch {
		case country != "*" && !phone.KnownRegion(country):
			errs = append(errs, fmt.Errorf("%q must be written as IN=0.12 or *=4.00", part))
		case err != nil:
			errs = append(errs, fmt.Errorf("the price of %s %w", country, err))
		case slices.ContainsFunc(prices, func(p SMSPrice) bool { return p.Country == country }):
			errs = append(errs, fmt.Errorf("%s has two prices", country))
		case p.Currency != "" && !isCurrency(p.Currency):
			errs = append(errs, fmt.Errorf("the price of %s must end with an ISO 4217 currency of three capital letters, such as USD", country))
		case len(prices) > 0 && prices[0].Currency != p.Currency:
			errs = append(errs, errors.New("the prices must have one currency"))
		}
		prices = append(prices, p)
	}
	return prices, errors.Join(errs...)
}

// SegmentPrice returns the price of an SMS segment to a number, or 0 without SMS_PRICES.
func (c *Config) SegmentPrice(n phone.Number) Money {
	var other Money
	region := ""
	if len(c.SMSPrices) > 0 {
		region = n.Region()
	}
	for _, p := range c.SMSPrices {
		switch p.Country {
		case region:
			return p.Price
		case "*":
			other = p.Price
		}
	}
	return other
}

// checkPrices checks that each number that may get an SMS has a price.
func (c *Config) checkPrices() []string {
	priced := func(country string) bool {
		return slices.ContainsFunc(c.SMSPrices, func(p SMSPrice) bool { return p.Country == country })
	}
	if len(c.SMSPrices) == 0 || priced("*") {
		return nil
	}
	var messages []string
	for _, country := range c.Countries {
		if !priced(country) {
			messages = append(messages, fmt.Sprintf("must have a price for %s, which COUNTRIES allows", country))
		}
	}
	return messages
}

func (c *Config) checkBudget() []string {
	if c.SMSBudget > 0 && len(c.SMSPrices) == 0 {
		return []string{"needs SMS_PRICES"}
	}
	return nil
}
