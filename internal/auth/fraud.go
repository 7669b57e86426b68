package auth

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// The rule against toll fraud. Fraudsters request codes for numbers that earn them money,
// from many addresses, and never use the codes.
const (
	// FraudWindow is how long a code counts after its validity has ended.
	FraudWindow = time.Hour

	fraudBlockCodes   = 20
	fraudCountryCodes = 200
	fraudNetworks     = 5
	blockDigits       = 4 // a block has 10,000 numbers
)

// Destination is where an SMS goes, for the rule against toll fraud. The zero value
// turns the rule off.
type Destination struct {
	// Block is the number without its last four digits.
	Block string
	// Country is the ISO 3166 country, empty in the default region.
	Country string
	// Network is the network that requests the code.
	Network string
}

// destination returns the Destination of a number.
func (s *Service) destination(n phone.Number, network string) Destination {
	if !s.Settings.FraudRule {
		return Destination{}
	}
	d := Destination{Block: string(n[:max(0, len(n)-blockDigits)]), Country: n.Region(), Network: network}
	if d.Country == s.Settings.DefaultRegion {
		d.Country = ""
	}
	return d
}

// ChecksFraud reports whether the rule against toll fraud may refuse the request of a
// number with these roles.
func (r ChallengeRequest) ChecksFraud(roles RoleFacts) bool {
	return r.Destination.Block != "" && r.Challenge.DeviceID == "" && r.Challenge.Role == actor.Coach && !roles.Registered
}

// CodeUse counts codes that were sent to one block or country and whose validity ended
// in the last FraudWindow.
type CodeUse struct {
	Codes, Used int
	// Networks is how many networks requested them.
	Networks int
}

// BlockFraud reports whether the use of the codes sent to a block looks like toll fraud.
func (u CodeUse) BlockFraud() bool { return u.fraud(fraudBlockCodes) }

// CountryFraud reports whether the use of the codes sent to a country other than the
// default region looks like toll fraud.
func (u CodeUse) CountryFraud() bool { return u.fraud(fraudCountryCodes) }

// fraud is true if at least the given number of codes were sent, at least fraudNetworks
// networks requested them, and fewer than three in ten were used.
func (u CodeUse) fraud(codes int) bool {
	return u.Codes >= codes && 10*u.Used < 3*u.Codes && u.Networks >= fraudNetworks
}

// FraudSuspected is the error of a request that the rule against toll fraud refuses.
type FraudSuspected struct{}

// Error implements error.
func (FraudSuspected) Error() string { return "toll fraud suspected" }
