package store_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/team"
)

// TestFormsSentAgain sends forms twice: the same content is saved once, and other content under the
// id of a form that was saved is refused, so that it is not lost unnoticed.
func TestFormsSentAgain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		batches := &batch.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyTier}
		schedule := team.Schedule{{Weekday: 1, Start: 60, End: 120}}
		for table, send := range map[string]func(id, text string) error{
			"team_replies": func(id, text string) error { return second(p.messages(0).ReplyOnce(bg, guardian, id, a.ID, text)) },
			"measurements": func(id, text string) error {
				return second(p.records().Measure(bg, c, progress.Measurement{ID: id, PlayerID: a.ID, Metric: text, Value: 12.4, On: "2026-03-02"}))
			},
			"performance_reports": func(id, text string) error {
				return second(p.records().AddReport(bg, c, progress.Report{ID: id, PlayerID: a.ID, Title: "March", Text: text, From: "2026-03-01", To: "2026-03-31"}))
			},
			"batches": func(id, text string) error {
				return second(batches.AddOnce(bg, c, id, batch.Patch{Name: &text, Schedule: &schedule}))
			},
			"team_messages": func(id, text string) error {
				return second(p.messages(0).SendOnce(bg, c, id, conversation.Draft{
					To: conversation.Target{PlayerIDs: []string{a.ID}}, Audience: conversation.ToBoth, Text: text, Channels: []conversation.Channel{conversation.InApp, conversation.SMS},
				}))
			},
		} {
			id := p.db.NewID()
			for range 2 {
				if err := send(id, "first"); err != nil {
					p.Errorf("%s: %v", table, err)
				}
			}
			if err := send(id, "second"); fault.CodeOf(err) != "idempotency_key_reused" {
				p.Errorf("%s: other content gets %v, want idempotency_key_reused", table, err)
			}
			if n := p.count(`SELECT count(*) FROM ` + table); n != 1 {
				p.Errorf("%s has %d rows, want 1", table, n)
			}
		}
	})
}

// TestImportWithAnotherFile sends the form of an import that was made again: with the same file it is the
// same import, and with another file, for example the corrected one, another import.
func TestImportWithAnotherFile(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c, s, id := p.coach(1), p.imports(), p.db.NewID()
		ok(p, second(s.CreateOnce(bg, c, id, playersFile(1, 2), roster.Options{})))
		ok(p, second(s.Step(bg, c, id)))
		for file, want := range map[roster.File]int{playersFile(1, 2): 2, playersFile(1, 3): 3} {
			i, err := s.CreateOnce(bg, c, id, file, roster.Options{})
			ok(p, err)
			if !endpoint.IsID(i.ID) || i.Rows() != want || (i.ID == id) != (want == 2) || (i.State() == roster.Done) != (want == 2) {
				p.Errorf("a file of %d rows became the import %s, which has %d rows and is %s", want, i.ID, i.Rows(), i.State())
			}
		}
		for _, err := range concurrently(4, func(int) error { return second(s.CreateOnce(bg, c, id, playersFile(1, 3), roster.Options{})) }) { // a double tap
			ok(p, err)
		}
		if list, err := s.Imports(bg, c); err != nil || len(list) != 2 {
			p.Errorf("%d imports, %v; want 2", len(list), err)
		}
		other := p.db.NewID()
		ok(p, second(s.CreateOnce(bg, c, other, playersFile(1, 4), roster.Options{})))
		if i, err := s.CreateOnce(bg, c, other, playersFile(1, 3), roster.Options{}); err != nil || i.Rows() != 3 {
			p.Errorf("the same file with another form: %v, %v", i, err)
		}
		if list, err := s.Imports(bg, c); err != nil || len(list) != 4 {
			p.Errorf("%d imports, %v; want 4", len(list), err)
		}
	})
}

// TestFormWithAnIDOfOthers sends forms with ids that others have: they are refused like a form that
// was sent before, and say nothing about what has the id.
func TestFormWithAnIDOfOthers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		batches := &batch.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyTier}
		name := "U12"
		draft := conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToGuardians, Text: "Hi", Channels: []conversation.Channel{conversation.SMS}}
		ids := map[string]string{}
		for n := range 2 {
			c := p.coach(1 + n)
			a := p.add(c, "Asha Rao", number(10+n), "")
			guardian := p.as(actor.Guardian, number(10+n))
			ok(p, p.decide(guardian, a.ID, approval.Approve))
			for what, send := range map[string]func(id string) error{
				"reply": func(id string) error { return second(p.messages(0).ReplyOnce(bg, guardian, id, a.ID, "Hi")) },
				"measurement": func(id string) error {
					return second(p.records().Measure(bg, c, progress.Measurement{ID: id, PlayerID: a.ID, Metric: "Run", Value: 1, On: "2026-03-02"}))
				},
				"report": func(id string) error {
					return second(p.records().AddReport(bg, c, progress.Report{ID: id, PlayerID: a.ID, Title: "March", Text: "Hi", From: "2026-03-01", To: "2026-03-31"}))
				},
				"batch":   func(id string) error { return second(batches.AddOnce(bg, c, id, batch.Patch{Name: &name})) },
				"message": func(id string) error { return second(p.messages(0).SendOnce(bg, c, id, draft)) },
				"import": func(id string) error {
					return second(p.imports().CreateOnce(bg, c, id, playersFile(1, 1), roster.Options{}))
				},
			} {
				if n == 0 {
					ids[what] = p.db.NewID()
				}
				switch err := send(ids[what]); {
				case n == 0 && err != nil:
					p.Errorf("%s: %v", what, err)
				case n == 1 && fault.KindOf(err) != fault.Invalid && fault.KindOf(err) != fault.NotFound:
					p.Errorf("%s with an id of others gets %v", what, err)
				}
			}
		}
	})
}
