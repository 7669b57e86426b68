package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

func TestServicesNotInTier(t *testing.T) {
	status := approval.ConsentStatus{Guardian: approval.Approved, Student: approval.Approved, HasGuardian: true, HasStudentNumber: true, CoachTier: "club"}
	rules := approval.Rules{TierHas: func(tier, service string) bool {
		return tier == "club" && service != "fee_reminders" && service != "chat"
	}}
	for _, s := range status.Availability(rules, time.Now()).Services() {
		want := approval.ServiceAccess{Name: s.Name, Guardian: true, Student: true}
		if s.Name == "fee_reminders" {
			want = approval.ServiceAccess{Name: s.Name, Reason: approval.ReasonTier}
		}
		if s != want {
			t.Errorf("got %+v, want %+v", s, want)
		}
	}
}

func TestHasParty(t *testing.T) {
	for _, tt := range []struct{ guardian, studentNumber bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		s := approval.ConsentStatus{HasGuardian: tt.guardian, HasStudentNumber: tt.studentNumber}
		if g, st := s.HasParty(actor.Guardian), s.HasParty(actor.Student); g != tt.guardian || st != tt.studentNumber {
			t.Errorf("%+v: guardian %t, student %t", tt, g, st)
		}
	}
}

func TestServicesWithoutGuardianOrNumber(t *testing.T) {
	for _, a := range []approval.Availability{
		{},
		{HasGuardian: true},
		{HasStudentNumber: true},
		{HasGuardian: true, HasStudentNumber: true},
	} {
		for _, s := range a.Services() {
			immediate := false
			for _, name := range approval.Immediate {
				immediate = immediate || name == s.Name
			}
			if want := immediate && a.HasGuardian; s.Guardian != want {
				t.Errorf("%+v: %s for the guardian is %t, want %t", a, s.Name, s.Guardian, want)
			}
			if want := immediate && (s.Name != "sms" || a.HasStudentNumber); s.Student != want {
				t.Errorf("%+v: %s for the student is %t, want %t", a, s.Name, s.Student, want)
			}
		}
	}
}
