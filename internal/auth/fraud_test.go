package auth_test

import (
	"testing"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestCodeUseFraud checks the thresholds of the rule against toll fraud.
func TestCodeUseFraud(t *testing.T) {
	for _, tt := range []struct {
		use            auth.CodeUse
		block, country bool
	}{
		{auth.CodeUse{}, false, false},
		{auth.CodeUse{Codes: 19, Used: 0, Networks: 19}, false, false},
		{auth.CodeUse{Codes: 20, Used: 0, Networks: 5}, true, false},
		{auth.CodeUse{Codes: 20, Used: 0, Networks: 4}, false, false},
		{auth.CodeUse{Codes: 20, Used: 5, Networks: 5}, true, false},
		{auth.CodeUse{Codes: 20, Used: 6, Networks: 5}, false, false},
		{auth.CodeUse{Codes: 199, Used: 0, Networks: 9}, true, false},
		{auth.CodeUse{Codes: 200, Used: 59, Networks: 5}, true, true},
		{auth.CodeUse{Codes: 200, Used: 60, Networks: 5}, false, false},
	} {
		if b, c := tt.use.BlockFraud(), tt.use.CountryFraud(); b != tt.block || c != tt.country {
			t.Errorf("%+v: got block %t, country %t, want %t, %t", tt.use, b, c, tt.block, tt.country)
		}
	}
}

// TestChecksFraud: only new coaches on unknown devices can be refused.
func TestChecksFraud(t *testing.T) {
	on := auth.Destination{Block: "+91981234"}
	for _, tt := range []struct {
		name        string
		key         auth.ChallengeKey
		destination auth.Destination
		roles       auth.RoleFacts
		want        bool
	}{
		{"a new coach", auth.ChallengeKey{Role: actor.Coach}, on, auth.RoleFacts{}, true},
		{"a known device", auth.ChallengeKey{Role: actor.Coach, DeviceID: "d"}, on, auth.RoleFacts{}, false},
		{"a registered coach", auth.ChallengeKey{Role: actor.Coach}, on, auth.RoleFacts{Registered: true}, false},
		{"a guardian", auth.ChallengeKey{Role: actor.Guardian}, on, auth.RoleFacts{Linked: true}, false},
		{"the rule is off", auth.ChallengeKey{Role: actor.Coach}, auth.Destination{}, auth.RoleFacts{}, false},
	} {
		r := auth.ChallengeRequest{Challenge: auth.Challenge{ChallengeKey: tt.key}, Destination: tt.destination}
		if got := r.ChecksFraud(tt.roles); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
}
