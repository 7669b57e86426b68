package approval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

func TestAccountClosure(t *testing.T) {
	player := func(name string, guardian, student approval.EndedApprover) approval.EndedPlayer {
		return approval.EndedPlayer{PlayerID: "player " + name, StudentName: name, GuardianName: "Meera", Guardian: guardian, Student: student}
	}
	approved := func(id string) approval.EndedApprover {
		return approval.EndedApprover{AccountID: id, State: approval.Approved}
	}
	asked := func(id string, state approval.State) approval.EndedApprover {
		return approval.EndedApprover{AccountID: id, State: state}
	}
	left := func(party actor.Role, id, student string, others ...string) *event.Event {
		return &event.Event{
			Type: event.CoachLeft, CoachID: "coach", CoachName: "Asha", PlayerID: "player " + student, Party: party, PartyID: id,
			StudentName: student, GuardianName: "Meera", OtherStudents: others,
		}
	}
	none := approval.EndedApprover{State: approval.Pending}
	for _, tt := range []struct {
		name       string
		players    []approval.EndedPlayer
		disputants []string
		want       []approval.ClosureEffect
	}{
		{name: "no players"},
		{name: "no numbers", players: []approval.EndedPlayer{player("Kabir", none, none)}},
		{
			name:    "approved parties are notified, in the order of their ids",
			players: []approval.EndedPlayer{player("Kabir", approved("b"), approved("a"))},
			want: []approval.ClosureEffect{
				{AccountID: "a", Event: left(actor.Student, "a", "Kabir")},
				{AccountID: "b", Event: left(actor.Guardian, "b", "Kabir")},
			},
		},
		{
			name: "parties that did not approve are not notified",
			players: []approval.EndedPlayer{
				player("Kabir", asked("a", approval.Pending), asked("b", approval.Rejected)),
				player("Anaya", asked("c", approval.Revoked), none),
			},
			want: []approval.ClosureEffect{{AccountID: "a"}, {AccountID: "b"}, {AccountID: "c"}},
		},
		{
			name: "one notification names all approved students of an account",
			players: []approval.EndedPlayer{
				player("Kabir", asked("a", approval.Pending), none), player("Anaya", approved("a"), none),
				player("Ishaan", approved("a"), none), player("Zara", approved("a"), none),
			},
			want: []approval.ClosureEffect{{AccountID: "a", Event: left(actor.Guardian, "a", "Anaya", "Ishaan", "Zara")}},
		},
		{
			name:       "disputants are not notified",
			players:    []approval.EndedPlayer{player("Kabir", approved("b"), none)},
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
