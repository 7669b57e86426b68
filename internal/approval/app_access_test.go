package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

func TestAppAccess(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	child, adult := approval.Date{Year: 2014, Month: 4, Day: 30}, approval.Date{Year: 2000, Month: 4, Day: 30}
	strict := approval.Rules{GuardianBelow: 18}
	poor := approval.Rules{TierHas: func(_, service string) bool { return service != "digital_payments" }}
	for _, tt := range []struct {
		guardian, student approval.State
		born              approval.Date
		party             actor.Role
		service           string
		rules             approval.Rules
		want              approval.AppAccess
	}{
		{approval.Pending, approval.Approved, child, actor.Guardian, "app", approval.Rules{}, approval.AppPending},
		{approval.Pending, approval.Approved, child, actor.Student, "app", approval.Rules{}, approval.AppGranted},
		{approval.Approved, approval.Pending, child, actor.Guardian, "app", approval.Rules{}, approval.AppGranted},
		{approval.Rejected, approval.Approved, child, actor.Guardian, "app", approval.Rules{}, approval.AppRefused},
		{approval.Approved, approval.Revoked, child, actor.Student, "app", approval.Rules{}, approval.AppRefused},
		{approval.Pending, approval.Approved, child, actor.Student, "app", strict, approval.AppPending},
		{approval.Revoked, approval.Approved, child, actor.Student, "app", strict, approval.AppRefused},
		{approval.Revoked, approval.Approved, adult, actor.Student, "app", strict, approval.AppGranted},
		{approval.Approved, approval.Approved, child, actor.Student, "digital_payments", poor, approval.AppNotInTier},
		{approval.Approved, approval.Approved, child, actor.Student, "fee_reminders", poor, approval.AppGranted},
		{approval.Pending, approval.Pending, child, actor.Student, "digital_payments", poor, approval.AppPending},
	} {
		s := approval.ConsentStatus{Guardian: tt.guardian, Student: tt.student, DateOfBirth: tt.born, HasGuardian: true, HasStudentNumber: true}
		if got := s.AppAccess(tt.party, tt.service, tt.rules, now); got != tt.want {
			t.Errorf("guardian %s, student %s: %s of the %s: got %q, want %q", tt.guardian, tt.student, tt.service, tt.party, got, tt.want)
		}
	}
}
