package approval_test

import (
	"maps"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

func TestPlayerLanguages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		student  approval.Student
		guardian *approval.Person
		want     map[phone.Number]string
	}{
		{approval.Student{Language: "hi"}, nil, map[phone.Number]string{}},
		{approval.Student{Number: "+1", Language: "hi"}, &approval.Person{Number: "+2"}, map[phone.Number]string{"+1": "hi"}},
		{approval.Student{Number: "+1", Language: "hi"}, &approval.Person{Number: "+1", Language: "en"}, map[phone.Number]string{"+1": "en"}},
	} {
		p := &approval.Player{}
		p.Party(actor.Student).Number, p.Party(actor.Student).Language = tt.student.Number, tt.student.Language
		if tt.guardian != nil {
			p.Party(actor.Guardian).Person = *tt.guardian
		}
		if got := p.Languages(); !maps.Equal(got, tt.want) {
			t.Errorf("%+v, %+v: got %v", tt.student, tt.guardian, got)
		}
	}
}
