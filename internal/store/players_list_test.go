package store_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestOtherAccountsGetNotFound: a player of another account is not found.
func TestOtherAccountsGetNotFound(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, other := p.coach(1), p.coach(7)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		b := p.add(other, "Asha Rao", number(4), number(5))
		foreign := []actor.Actor{
			other, p.as(actor.Guardian, number(4)), p.as(actor.Student, number(5)),
			// The right account in the wrong role, and no account at all.
			{AccountID: a.Party(actor.Guardian).AccountID, Role: actor.Student},
			{AccountID: a.Party(actor.Student).AccountID, Role: actor.Guardian},
			{AccountID: coach.AccountID, Role: actor.Guardian},
			{AccountID: a.Party(actor.Guardian).AccountID, Role: actor.Coach},
			{Role: actor.Guardian},
			{Role: actor.Coach},
			{AccountID: coach.AccountID},
		}
		for _, by := range foreign {
			for name, err := range map[string]error{
				"player":         second(p.Player(bg, by, a.ID)),
				"status":         third(p.Status(bg, by, a.ID)),
				"guardian":       second(p.OwnRequest(bg, by, a.Party(actor.Guardian).Request.ID)),
				"student":        second(p.OwnRequest(bg, by, a.Party(actor.Student).Request.ID)),
				"decide":         p.decide(by, a.ID, approval.Approve),
				"edit":           second(p.Edit(bg, by, a.ID, approval.Patch{})),
				"remove":         p.Remove(bg, by, a.ID),
				"send":           third(p.Send(bg, by, a.ID, actor.Guardian, approval.Patch{}, nil)),
				"remind":         third(p.Remind(bg, by, a.ID, actor.Guardian)),
				"unknown player": second(p.Player(bg, by, "018f0000-0000-7000-8000-000000000000")),
			} {
				if fault.CodeOf(err) != "not_found" || !reflect.DeepEqual(err, error(fault.Missing())) {
					p.Errorf("%s as %s: %v", name, by.Role, err)
				}
			}
		}
		// The coach sees the player but cannot decide.
		p.refused(p.decide(coach, a.ID, approval.Approve), "not_found")
		all, err := p.Players(bg, other, approval.Filter{}, approval.Page{Limit: 10})
		ok(p, err)
		if len(all) != 1 || all[0].ID != b.ID {
			p.Errorf("the other coach lists %v", all)
		}
		pending, err := p.Pending(bg, other, approval.Page{Limit: 10})
		ok(p, err)
		for _, item := range pending {
			if item.PlayerID != b.ID {
				p.Errorf("the other coach lists the pending player %s", item.PlayerID)
			}
		}
	})
}

func TestPlayersList(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		names := []string{"Asha Rao", "Bela Şen", "Carl Groß", "Dev 100%", "Eva_Li", "Frida O’Neil", "Gita", "Hana"}
		ids := map[string]string{}
		for i, name := range names {
			a, err := p.Add(bg, coach, child(name, ""), &approval.Person{Name: "Mother of " + name, Relationship: "mother", Number: number(10 + i)})
			ok(p, err)
			ids[a.ID] = name
		}
		p.add(p.coach(99), "Asha Rao", number(2), "")
		byName := func(want string) string {
			for id, name := range ids {
				if name == want {
					return id
				}
			}
			return ""
		}
		ok(p, p.decide(p.as(actor.Guardian, number(10)), byName("Asha Rao"), approval.Approve))
		ok(p, p.decide(p.as(actor.Guardian, number(11)), byName("Bela Şen"), approval.Reject))
		ok(p, p.decide(p.as(actor.Guardian, number(12)), byName("Carl Groß"), approval.Approve))
		ok(p, p.decide(p.as(actor.Guardian, number(12)), byName("Carl Groß"), approval.Revoke))

		tests := map[string]struct {
			f    approval.Filter
			want []string
		}{
			"all, newest first": {approval.Filter{}, []string{"Hana", "Gita", "Frida O’Neil", "Eva_Li", "Dev 100%", "Carl Groß", "Bela Şen", "Asha Rao"}},
			"approved":          {approval.Filter{GuardianStatus: "approved"}, []string{"Asha Rao"}},
			"rejected":          {approval.Filter{GuardianStatus: "rejected"}, []string{"Carl Groß", "Bela Şen"}},
			"both":              {approval.Filter{GuardianStatus: "approved", StudentStatus: "pending"}, []string{"Asha Rao"}},
			"revoked state":     {approval.Filter{GuardianState: approval.Revoked}, []string{"Carl Groß"}},
			"rejected state":    {approval.Filter{GuardianState: approval.Rejected}, []string{"Bela Şen"}},
			"student state":     {approval.Filter{StudentState: approval.Revoked}, nil},
			"end of a number":   {approval.Filter{Search: string(number(12))[len(number(12))-4:]}, []string{"Carl Groß"}},
			"middle of one":     {approval.Filter{Search: string(number(12))[len(number(12))-5 : len(number(12))-1]}, nil},
			"too few digits":    {approval.Filter{Search: string(number(12))[len(number(12))-2:]}, nil},
			"digits in a name":  {approval.Filter{Search: "100"}, []string{"Dev 100%"}},
			"none":              {approval.Filter{StudentStatus: "approved"}, nil},
			"case":              {approval.Filter{Search: "aSHA"}, []string{"Asha Rao"}},
			"folded":            {approval.Filter{Search: "GROSS"}, []string{"Carl Groß"}},
			"accents":           {approval.Filter{Search: "s\u0327EN"}, []string{"Bela Şen"}},
			"no wildcard":       {approval.Filter{Search: "%"}, []string{"Dev 100%"}},
			"no joker":          {approval.Filter{Search: "_"}, []string{"Eva_Li"}},
			"apostrophe":        {approval.Filter{Search: "O`NEIL"}, []string{"Frida O’Neil"}},
			"words":             {approval.Filter{Search: "frida o neil"}, []string{"Frida O’Neil"}},
			"without it":        {approval.Filter{Search: "oneil"}, []string{"Frida O’Neil"}},
			"other punctuation": {approval.Filter{Search: "eva-li"}, []string{"Eva_Li"}},
			"only punctuation":  {approval.Filter{Search: "-"}, nil},
			"guardian":          {approval.Filter{Search: "mother of g"}, []string{"Gita"}},
			"not across names":  {approval.Filter{Search: "gita mother"}, nil},
			"search and status": {approval.Filter{Search: "a", GuardianStatus: "pending"}, []string{"Hana", "Gita", "Frida O’Neil", "Eva_Li"}},
		}
		for name, tt := range tests {
			for _, limit := range []int{1, 3, 50} {
				var got []string
				page := approval.Page{Limit: limit}
				for range 20 {
					some, err := p.Players(bg, coach, tt.f, page)
					ok(p, err)
					for _, one := range some {
						got = append(got, ids[one.ID])
						page.After.ID = one.ID
					}
					if len(some) < limit {
						break
					}
				}
				if !slices.Equal(got, tt.want) {
					p.Errorf("%s by %d: %q, want %q", name, limit, got, tt.want)
				}
			}
		}
	})
}

// TestPlayersByName pages through players in alphabetical order on both engines, begins at a letter, and counts.
func TestPlayersByName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		want := []string{"Aarti Şen", "asha rao", "Bela", "Élodie", "Emil", "O Brien", "Oak", "O’Brien", "अनिल", "आशा"}
		ids := map[string]string{}
		for i, at := range []int{7, 2, 9, 0, 4, 1, 8, 3, 6, 5} {
			a, err := p.Add(bg, coach, child(want[at], ""), &approval.Person{Name: "Mother", Relationship: "mother", Number: number(10 + i)})
			ok(p, err)
			ids[want[at]] = a.ID
		}
		other := p.coach(99)
		p.add(other, "Asha Rao", number(2), "")
		read := func(from string, limit int) (got []string) {
			page := approval.NamePage{From: from, Limit: limit}
			for {
				some, err := p.PlayersByName(bg, coach, approval.Filter{}, page)
				ok(p, err)
				for _, one := range some {
					got = append(got, one.Student.FullName)
					page = approval.NamePage{After: one.ID, Limit: limit}
				}
				if len(some) < limit {
					return got
				}
			}
		}
		for _, limit := range []int{1, 3, 50} {
			if got := read("", limit); !slices.Equal(got, want) {
				p.Errorf("by %d: %q, want %q", limit, got, want)
			}
		}
		for from, first := range map[string]int{"B": 2, "C": 3, "E": 3, "O": 5, "आ": 9} {
			if got := read(from, 50); !slices.Equal(got, want[first:]) {
				p.Errorf("from %s: %q, want %q", from, got, want[first:])
			}
		}
		// Another name has another place.
		name := "Zora"
		_, err := p.Edit(bg, coach, ids["Bela"], approval.Patch{Student: approval.StudentPatch{FullName: &name}})
		ok(p, err)
		if got := read("Z", 50); !slices.Equal(got, []string{"Zora", "अनिल", "आशा"}) {
			p.Errorf("after another name: %q", got)
		}
		count, err := p.CountByName(bg, coach, approval.Filter{})
		ok(p, err)
		if letters := []string{"A", "E", "O", "Z", "अ", "आ"}; count.Total != len(want) || !slices.Equal(count.Letters, letters) {
			p.Errorf("count: %v, want %d and %q", count, len(want), letters)
		}
		if _, err := p.PlayersByName(bg, other, approval.Filter{}, approval.NamePage{After: ids["Oak"], Limit: 5}); fault.CodeOf(err) != "not_found" {
			p.Errorf("behind a player of another coach: %v", err)
		}
	})
}

func TestLinksList(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		var want []string
		for i := range 5 {
			a := p.add(p.coach(120+i), "Asha Rao", number(2), number(2))
			want = append([]string{a.ID}, want...)
		}
		for _, role := range approval.Parties {
			by := p.as(role, number(2))
			var got []string
			page := approval.Page{Limit: 2}
			for range 3 {
				some, err := p.Links(bg, by, false, page)
				ok(p, err)
				for _, one := range some {
					got = append(got, one.ID)
					page.After.ID = one.ID
				}
			}
			if !slices.Equal(got, want) {
				p.Errorf("as %s: %v, want %v", role, got, want)
			}
		}
		if p.as(actor.Guardian, number(2)).AccountID == p.as(actor.Student, number(2)).AccountID {
			p.Error("one number, two roles, one account")
		}
	})
}

func second[A any](_ A, err error) error { return err }

func third[A, B any](_ A, _ B, err error) error { return err }
