package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/team"
)

// Money returns an amount for people: "₹1,500", or "₹1,500.50" if it is not whole.
func (v *Texts) Money(amount int64, currency string) string {
	number := team.FormatAmount(amount, currency)
	if whole, fraction, _ := strings.Cut(number, "."); strings.Trim(fraction, "0") == "" {
		number = whole
	}
	return inCurrency(number, currency)
}

// Price writes what messages cost, as in ₹0.12, with up to four decimals.
func (v *Texts) Price(cost fmt.Stringer, currency string) string {
	text := cost.String()
	_, fraction, _ := strings.Cut(text, ".")
	switch missing := team.Decimals(currency) - len(fraction); {
	case missing <= 0:
	case fraction == "":
		text += "." + strings.Repeat("0", missing)
	default:
		text += strings.Repeat("0", missing)
	}
	return inCurrency(text, currency)
}

// inCurrency writes a decimal number with the sign or code of its currency.
func inCurrency(number, currency string) string {
	whole, fraction, found := strings.Cut(number, ".")
	if found {
		fraction = "." + fraction
	}
	if currency == "INR" {
		return "₹" + groupDigits(whole, 2) + fraction
	}
	return currency + "\u00a0" + groupDigits(whole, 3) + fraction
}

// groupDigits puts commas before the last three digits, and before each group of n digits to
// the left of them: 12,34,567 for n = 2.
func groupDigits(digits string, n int) string {
	if len(digits) <= 3 {
		return digits
	}
	head, tail := digits[:len(digits)-3], digits[len(digits)-3:]
	for len(head) > n {
		head, tail = head[:len(head)-n], head[len(head)-n:]+","+tail
	}
	return head + "," + tail
}

// CalendarDay returns a date for people: "5 May 2026".
func (v *Texts) CalendarDay(d team.Date) string {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return string(d)
	}
	return v.dayMonthYear(t)
}
