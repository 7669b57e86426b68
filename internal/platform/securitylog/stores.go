package securitylog

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
)

// Stores are the stores whose calls are security events. Package store implements all.
type Stores interface {
	approval.Store
	auth.Store
	auth.RevokeStore
	coach.AccountAdminStore
	coach.DirectoryStore
	coach.SubscriptionStore
}

// Stores returns s with sign-ins, wrong OTPs, ended sessions, decisions and changes of
// settings logged, and with OTPs, sessions and decisions counted.
func (l *Log) Stores(s Stores) Stores { return &stores{s, l} }

type stores struct {
	Stores
	log *Log
}
