package approval_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
)

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
