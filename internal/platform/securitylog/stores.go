package securitylog

import (
	"github.com/touchline/touchline/internal/auth"
)

// Stores are the stores whose calls are security events. Package store implements all.
type Stores interface {
	auth.Store
	auth.RevokeStore
}

// Stores returns s with sign-ins, wrong OTPs, ended sessions and changes of
// settings logged, and with OTPs and sessions counted.
func (l *Log) Stores(s Stores) Stores { return &stores{s, l} }

type stores struct {
	Stores
	log *Log
}
