package auth_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestSendLimits: which limits count a request, and which only check it.
func TestSendLimits(t *testing.T) {
	s := &auth.Service{Settings: auth.Settings{SendsPerAddressHour: 20, SendsPerDay: 10, SendsPerHour: 5, SendsTotalHour: 7}}
	const ip4, ip6 = "198.51.100.7", "2001:db8:1:2::/64"
	linked := auth.RoleFacts{Linked: true}
	for _, tt := range []struct {
		name    string
		key     auth.ChallengeKey
		address string
		roles   auth.RoleFacts
		want    []string
	}{
		{
			"a guardian",
			auth.ChallengeKey{Number: "+1", Role: actor.Guardian},
			ip4, linked,
			[]string{"send/address/198.51.100.7 20", "send/day/+1 10", "send/hour/+1 5", "send/all 7"},
		},
		{
			"a coach",
			auth.ChallengeKey{Number: "+1", Role: actor.Coach},
			ip4,
			auth.RoleFacts{Registered: true},
			[]string{"send/address/198.51.100.7 20", "send/day/+1 10", "send/hour/+1 5", "send/all 7"},
		},
		{
			"a new coach",
			auth.ChallengeKey{Number: "+1", Role: actor.Coach},
			ip4,
			auth.RoleFacts{},
			[]string{"send/address/198.51.100.7 20", "send/day/+1 10", "send/hour/+1 5", "send/all 7", "send/all/new 4"},
		},
		{
			"a call to a new coach",
			auth.ChallengeKey{Number: "+1", Role: actor.Coach},
			ip4,
			auth.RoleFacts{},
			[]string{"send/address/198.51.100.7 20", "send/day/+1 10", "send/hour/+1 5", "send/voice/all 7", "send/voice/all/new 4"},
		},
		{
			"no guardian",
			auth.ChallengeKey{Number: "+1", Role: actor.Guardian},
			ip6,
			auth.RoleFacts{},
			[]string{
				"send/site/2001:db8:1::/48 100", "send/address/2001:db8:1:2::/64 20", "send/day/+1 10 check", "send/hour/+1 5 check",
				"send/shadow/day/+1/guardian 10", "send/shadow/hour/+1/guardian 5", "send/all 7 check",
			},
		},
		{
			"a blocked guardian",
			auth.ChallengeKey{Number: "+1", Role: actor.Guardian},
			ip4,
			auth.RoleFacts{Linked: true, Blocked: true},
			[]string{"send/address/198.51.100.7 20", "send/day/+1 10 check", "send/hour/+1 5 check", "send/all 7 check"},
		},
		{
			"no guardian, blocked",
			auth.ChallengeKey{Number: "+1", Role: actor.Guardian},
			ip4,
			auth.RoleFacts{Blocked: true},
			[]string{
				"send/address/198.51.100.7 20", "send/day/+1 10 check", "send/hour/+1 5 check",
				"send/shadow/day/+1/guardian 10 check", "send/shadow/hour/+1/guardian 5 check", "send/all 7 check",
			},
		},
		{
			"a blocked known device",
			auth.ChallengeKey{Number: "+1", Role: actor.Guardian, DeviceID: "d"},
			ip6,
			auth.RoleFacts{Blocked: true},
			[]string{"send/device/d 5 check"},
		},
		{"a known device", auth.ChallengeKey{Number: "+1", Role: actor.Guardian, DeviceID: "d"}, ip6, auth.RoleFacts{}, []string{"send/device/d 5"}},
		{
			"a confirmed address, of any number", auth.EmailKey("+1", actor.Guardian), ip4,
			auth.RoleFacts{},
			[]string{"send/address/198.51.100.7 20", "send/device/email/guardian/+1 5"},
		},
		{"an address to confirm", auth.ConfirmKey("+1", actor.Coach, "a@b.example"), ip4, auth.RoleFacts{}, []string{"send/device/confirm/coach/+1 5"}},
	} {
		var got []string
		for _, l := range s.SendLimits(tt.key, auth.OTPRequest{Network: tt.address, ByVoice: strings.HasPrefix(tt.name, "a call")}, tt.roles) {
			text := fmt.Sprint(l.Key, " ", l.Max)
			if l.CheckOnly {
				text += " check"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	s.Settings = auth.Settings{}
	if got := s.SendLimits(auth.ChallengeKey{Number: "+1", Role: actor.Coach}, auth.OTPRequest{Network: ip6}, auth.RoleFacts{}); len(got) > 0 {
		t.Errorf("all limits off: got %+v, want none", got)
	}
}
