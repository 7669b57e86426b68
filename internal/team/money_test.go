package team_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/team"
)

var (
	kolkata = time.FixedZone("IST", 5*3600+1800)
	noon    = time.Date(2026, 3, 2, 6, 30, 0, 0, time.UTC) // 12:00 in kolkata
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		currency, text string
		amount         int64
	}{
		{"INR", "1500.00", 150000},
		{"INR", "0.05", 5},
		{"INR", "-0.05", -5},
		{"INR", "10000000000.00", 1_000_000_000_000},
		{"JPY", "1500", 1500},
		{"KWD", "1.500", 1500},
	} {
		if got := team.FormatAmount(c.amount, c.currency); got != c.text {
			t.Errorf("%d %s is %s, want %s", c.amount, c.currency, got, c.text)
		}
		if got, code := team.ParseAmount(c.text, c.currency); (code == "") != (c.amount > 0) || code == "" && got != c.amount {
			t.Errorf("%s %s is %d, %q; want %d", c.text, c.currency, got, code, c.amount)
		}
	}
	for text, want := range map[string]int64{
		"1,500": 150000, "1,500.5": 150050, " 1500.5 ": 150050, "1,00,000": 10000000, "1,000,000": 100000000, "0": 0,
		"₹1,500.00": 150000, "₹ 1,50,000": 15000000, "Rs. 1500/-": 150000, "rs 1,500": 150000, "INR 1500.50": 150050, "1500 INR": 150000, "1500 ₹": 150000,
		"1 500": 150000, "1\u00a0500.00": 150000, "₹\u00a01\u202f50\u202f000": 15000000, "1500/-": 150000, "रु 500": 50000, "\u20681\u200b500\u2069": 150000, "\u202d₹1,500\u202c": 150000, "1,23,45,678": 1234567800,
	} {
		if got, code := team.ParseAmount(text, "INR"); code != "" || got != want {
			t.Errorf("%q is %d, %q; want %d", text, got, code, want)
		}
	}
	for code, texts := range map[string][]string{
		"too_large":        {"9999999999999999999999"},
		"invalid_amount":   {"", ".", "-1", "₹-5", "1e3", "٣", "$15", "€15", "EUR 15", "Rs", "₹₹5", "15 rupees", "1/2"},
		"ambiguous_amount": {"1.505", "1.500", "1.5.0", "12,50", "1.500,00", "1,5000", ",500", "1,,500", "1.5,0", "1,0,000", "1,5000,000", "15 00", "1, 500", "1,500 000", "₹12,50"},
	} {
		for _, text := range texts {
			if got, found := team.ParseAmount(text, "INR"); found != code {
				t.Errorf("%q is %d, %q; want %s", text, got, found, code)
			}
		}
	}
	if got, code := team.ParseAmount("$15.50", "USD"); got != 1550 || code != "" {
		t.Errorf("$15.50 is %d, %q", got, code)
	}
}

func TestCurrencies(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"INR": true, "AED": true, "ZWG": true, "JPY": true, "inr": false, "XXX": false, "": false, "RUPEE": false} {
		if got := team.KnownCurrency(code); got != want {
			t.Errorf("%q is known: %t, want %t", code, got, want)
		}
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from   team.Date
		months int
		want   team.Date
	}{
		{"2026-01-31", 1, "2026-02-28"},
		{"2026-01-31", 2, "2026-03-31"},
		{"2028-01-31", 1, "2028-02-29"},
		{"2026-12-15", 1, "2027-01-15"},
		{"2026-01-31", -2, "2025-11-30"},
	} {
		if got := c.from.AddMonths(c.months); got != c.want {
			t.Errorf("%s and %d months is %s, want %s", c.from, c.months, got, c.want)
		}
	}
	for _, text := range []string{"", "2026-02-29", "2026-2-1", "02-03-2026", "2026-02-01T00:00:00Z"} {
		if d, err := team.ParseDate(text); err == nil {
			t.Errorf("%q is %s, want an error", text, d)
		}
	}
	if got := team.DateOf(noon.Add(12*time.Hour), kolkata); got != "2026-03-03" {
		t.Errorf("the date is %s", got)
	}
}
