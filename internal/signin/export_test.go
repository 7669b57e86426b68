package signin

import "github.com/touchline/touchline/internal/platform/wire"

// Digits reads an OTP.
func Digits(typed string) (string, bool) {
	var f wire.Faults
	otp := digits(typed, "/otp", &f)
	return otp, len(f) == 0
}
