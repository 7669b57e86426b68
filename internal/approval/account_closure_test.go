package approval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

func TestAccountClosure(t *testing.T) {
	player := func(name string, guardian, student approval.Party) *approval.Player {
		guardian.Role, guardian.Name, student.Role = actor.Guardian, "Meera", actor.Student
		return &approval.Player{ID: "player " + name, Student: approval.Child{FullName: name}, Parties: []approval.Party{guardian, student}}
	}
	asked := func(id string, state approval.State) approval.Party {
		return approval.Party{AccountID: id, Consent: approval.Consent{State: state}}
	}
	approved := func(id string) approval.Party { return asked(id, approval.Approved) }
	left := func(party actor.Role, id, student string, others ...string) *event.Event {
		return &event.Event{
			Type: event.CoachLeft, CoachID: "coach", CoachName: "Asha", PlayerID: "player " + student, Party: party, PartyID: id,
			StudentName: student, GuardianName: "Meera", OtherStudents: others,
		}
	}
	none := asked("", approval.Pending)
	for _, tt := range []struct {
		name       string
		players    []*approval.Player
		disputants []string
		want       []approval.ClosureEffect
	}{
		{name: "no players"},
		{name: "no numbers", players: []*approval.Player{player("Kabir", none, none)}},
		{
			name:    "approved parties are notified, in the order of their ids",
			players: []*approval.Player{player("Kabir", approved("b"), approved("a"))},
			want: []approval.ClosureEffect{
				{AccountID: "a", Event: left(actor.Student, "a", "Kabir")},
				{AccountID: "b", Event: left(actor.Guardian, "b", "Kabir")},
			},
		},
		{
			name: "parties that did not approve are not notified",
			players: []*approval.Player{
				player("Kabir", asked("a", approval.Pending), asked("b", approval.Rejected)),
				player("Anaya", asked("c", approval.Revoked), none),
			},
			want: []approval.ClosureEffect{{AccountID: "a"}, {AccountID: "b"}, {AccountID: "c"}},
		},
		{
			name: "one notification names all approved students of an account",
			players: []*approval.Player{
				player("Kabir", asked("a", approval.Pending), none), player("Anaya", approved("a"), none),
				player("Ishaan", approved("a"), none), player("Zara", approved("a"), none),
			},
			want: []approval.ClosureEffect{{AccountID: "a", Event: left(actor.Guardian, "a", "Anaya", "Ishaan", "Zara")}},
		},
		{
			name:       "disputants are not notified",
			players:    []*approval.Player{player("Kabir", approved("b"), none)},
			disputants: []string{"c", "a", "b"},
			want:       []approval.ClosureEffect{{AccountID: "a"}, {AccountID: "b", Event: left(actor.Guardian, "b", "Kabir")}, {AccountID: "c"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := approval.AccountClosure("coach", "Asha", tt.players, tt.disputants)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
