package phone_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/platform/phone"
)

// TestNationalForms: a number has the other form of its country after that of E.164, and a fixed line of Brazil none, which is another
// person's mobile number.
func TestNationalForms(t *testing.T) {
	for number, want := range map[string][]phone.Number{
		"+5215512345678": {"+525512345678", "+5215512345678"},
		"+525512345678":  {"+525512345678", "+5215512345678"},
		"+551187654321":  {"+5511987654321", "+551187654321"},
		"+5511987654321": {"+5511987654321", "+551187654321"},
		"+551134567890":  {"+551134567890"},
		"+5511934567890": {"+5511934567890"},
		"+541123456789":  {"+5491123456789", "+541123456789"},
		"+5491123456789": {"+5491123456789", "+541123456789"},
		"+919876543210":  {"+919876543210"},
		"+12015550123":   {"+12015550123"},
		"":               {""},
	} {
		if got := phone.NationalForms(number); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", number, got, want)
		}
	}
}
