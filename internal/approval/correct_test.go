package approval_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestCorrectionNamesTheChange: a request with a corrected number tells the other party, which
// has approved, that this number changed.
func TestCorrectionNamesTheChange(t *testing.T) {
	t.Parallel()
	rules := approval.Rules{TestNumber: func(phone.Number) bool { return false }}
	coach := actor.Actor{AccountID: "coach", Role: actor.Coach}
	corrected := phone.Number("+919800000003")
	for party, tt := range map[actor.Role]struct {
		patch approval.Patch
		want  event.Change
	}{
		actor.Guardian: {approval.Patch{Guardian: &approval.GuardianPatch{Number: &corrected}}, event.GuardianNumberChanged},
		actor.Student:  {approval.Patch{Student: approval.StudentPatch{Number: &corrected}}, event.StudentNumberChanged},
	} {
		p := &approval.Player{
			ID: "player", CoachID: coach.AccountID, Student: approval.Child{FullName: "Asha Rao"},
			Parties: []approval.Party{
				{
					Role: actor.Guardian, Person: approval.Person{Name: "Meera", Relationship: "mother", Number: "+919800000001"},
					AccountID: "guardian", Consent: approval.Consent{State: approval.Approved},
				},
				{Role: actor.Student, Person: approval.Person{Number: "+919800000002"}, AccountID: "student", Consent: approval.Consent{State: approval.Approved}},
			},
		}
		p.Party(party).Consent.State = approval.Rejected
		c, _, err := p.Send(coach, party, tt.patch, nil, rules, approval.Operation{Now: time.Now(), NewID: uuid.NewString})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(c.Events, func(e event.Event) bool { return e.Type == event.Changed })
		if i < 0 || !slices.Equal(c.Events[i].Changes, []event.Change{tt.want}) {
			t.Errorf("the number of the %s was corrected: events %+v, want a change of %s", party, c.Events, tt.want)
		}
	}
}
