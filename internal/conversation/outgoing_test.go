package conversation

import (
	"testing"

	"github.com/touchline/touchline/internal/message"
)

func TestOutgoing(t *testing.T) {
	for _, tt := range []struct {
		name string
		to   addressee
		want message.TeamMessage
	}{
		{"a party that approved", addressee{EverApproved: true, StudentName: "Asha"}, message.TeamMessage{}},
		{"a party that never approved", addressee{StudentName: "Asha", Language: "hi"}, message.TeamMessage{Restricted: true, Language: "hi"}},
		{"a copy names the student", addressee{EverApproved: true, Copy: true, StudentName: "Asha"}, message.TeamMessage{StudentName: "Asha"}},
		{"a copy to a guardian who never approved", addressee{Copy: true, StudentName: "Asha"}, message.TeamMessage{StudentName: "Asha", Restricted: true}},
	} {
		tt.want.CoachName, tt.want.Text = "Meera", "Training at 5"
		if got := outgoing("Meera", "Training at 5", tt.to); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
