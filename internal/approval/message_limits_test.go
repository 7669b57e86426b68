package approval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
)

func TestMessageLimitsFor(t *testing.T) {
	perCoach := approval.MessageLimit{Name: "messages_per_coach", Key: "message/from/c1", Max: 200, Variable: true}
	unlimited := perCoach
	unlimited.Max = 0
	fromCoach := approval.MessageLimit{Name: "messages_per_number_from_coach", Key: "message/c1/+919800000001", Max: 6}
	perNumber := approval.MessageLimit{Name: "messages_per_number", Key: "message/to/+919800000001", Max: 20}
	for _, tt := range []struct {
		name     string
		limits   approval.MessageLimits
		coachID  string
		perCoach int64
		want     []approval.MessageLimit
	}{
		{"all limits", approval.MessageLimits{PerNumberFromCoach: 6, PerNumber: 20}, "c1", 200, []approval.MessageLimit{perCoach, fromCoach, perNumber}},
		{"no limit per coach still counts", approval.MessageLimits{}, "c1", 0, []approval.MessageLimit{unlimited}},
		{"no limit per number", approval.MessageLimits{PerNumberFromCoach: 6}, "c1", 200, []approval.MessageLimit{perCoach, fromCoach}},
		{"coach has closed the account", approval.MessageLimits{PerNumberFromCoach: 6, PerNumber: 20}, "", 0, []approval.MessageLimit{perNumber}},
		{"coach has closed the account, no limits", approval.MessageLimits{}, "", 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.limits.For(tt.coachID, tt.perCoach, "+919800000001")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
