package team_test

import (
	"testing"

	"github.com/touchline/touchline/internal/team"
)

func TestNewOutgoingText(t *testing.T) {
	for _, tt := range []struct {
		name string
		to   team.Addressee
		want team.OutgoingText
	}{
		{"a party that approved", team.Addressee{EverApproved: true, StudentName: "Asha"}, team.OutgoingText{}},
		{"a party that never approved", team.Addressee{StudentName: "Asha", Language: "hi"}, team.OutgoingText{Restricted: true, Language: "hi"}},
		{"a copy names the student", team.Addressee{EverApproved: true, Copy: true, StudentName: "Asha"}, team.OutgoingText{StudentName: "Asha"}},
		{"a copy to a guardian who never approved", team.Addressee{Copy: true, StudentName: "Asha"}, team.OutgoingText{StudentName: "Asha", Restricted: true}},
	} {
		tt.want.CoachName, tt.want.Text = "Meera", "Training at 5"
		if got := team.NewOutgoingText("Meera", "Training at 5", tt.to); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
