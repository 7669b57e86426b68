package server

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/touchline/touchline/internal/batch"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/service"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// newImports returns the import of players, which adds them as the API does.
func newImports(o Options, db *store.DB, approvals *approval.Service, batches *batch.Service, common service.Common) *roster.Service {
	return &roster.Service{
		Store: db,
		Rules: rosterRules(common.Phones, o.Now),
		AddPlayer: func(ctx context.Context, by actor.Actor, e roster.Entry) (string, error) {
			student, guardian, err := playerOf(e)
			if err != nil {
				return "", err
			}
			p, err := approvals.Add(ctx, by, student, guardian, e.BatchIDs...)
			if err != nil {
				return "", err
			}
			return p.ID, nil
		},
		Batches: func(ctx context.Context, by actor.Actor) (all []roster.Batch, err error) {
			err = batches.Each(ctx, by, false, func(b *team.Batch) error {
				all = append(all, roster.Batch{ID: b.ID, Name: b.Name})
				return nil
			})
			return all, err
		},
		CheckFeature: func(ctx context.Context, by actor.Actor) error {
			return common.Subscriptions.CheckFeature(ctx, by, coach.Import)
		},
		Now: o.Now, NewID: o.NewID, Log: o.Log,
	}
}

// rosterRules are the rules of a player in the API.
func rosterRules(phones phone.Parser, now func() time.Time) roster.Rules {
	name := wire.ParseRules(fmt.Sprintf("name,max=%d", approval.MaxName))
	relationship := wire.ParseRules(fmt.Sprintf("name,max=%d", approval.MaxRelationship))
	return roster.Rules{
		Phones: phones,
		Text: func(c roster.Column, text string) (stored, code, wrong string) {
			rules := name
			if c == roster.Relationship {
				rules = relationship
			}
			var f wire.Faults
			text = rules.Text(text, "", &f)
			if len(f) > 0 {
				return text, f[0].Code, f[0].Detail
			}
			return text, "", ""
		},
		BirthDate: func(text string) (needsGuardian bool, wrong string) {
			date, err := approval.ParseDate(text)
			if err != nil {
				return false, "This date does not exist."
			}
			return !date.IsAdult(now()), approval.CheckBirthDate(date, now())
		},
		Email:    approval.CheckEmail,
		FoldName: approval.FoldName,
	}
}

// playerOf returns the player of an entry that the rules allow.
func playerOf(e roster.Entry) (approval.Student, *approval.Guardian, error) {
	born, err := approval.ParseDate(e.BirthDate)
	student := approval.Student{FullName: e.StudentName, DateOfBirth: born, Number: phone.Number(e.StudentNumber), Language: e.StudentLanguage}
	if err != nil || !e.HasGuardian() {
		return student, nil, err
	}
	return student, &approval.Guardian{
		Name: e.GuardianName, Relationship: e.Relationship, Number: phone.Number(e.GuardianNumber), Email: e.GuardianEmail,
		Language: e.GuardianLanguage,
	}, nil
}

// newExport returns a function that writes the players of a coach as CSV. It returns a
// tier_limit before it writes anything.
func newExport(approvals *approval.Service, subscriptions *coach.Subscriptions) func(context.Context, actor.Actor, approval.Filter, io.Writer) error {
	return func(ctx context.Context, by actor.Actor, f approval.Filter, out io.Writer) error {
		if err := subscriptions.CheckFeature(ctx, by, coach.Export); err != nil {
			return err
		}
		w := roster.NewWriter(out)
		begun := false
		err := approvals.EachPlayer(ctx, by, f, func(p *approval.Player) error {
			if !begun { // write nothing if the first read fails
				begun = true
				if err := w.WriteTitles(); err != nil {
					return err
				}
			}
			return w.Write(exportOf(p))
		})
		if err == nil && !begun {
			err = w.WriteTitles()
		}
		if err != nil {
			return err
		}
		return w.Flush()
	}
}

// exportOf returns the row of a player.
func exportOf(p *approval.Player) roster.Export {
	e := roster.Export{
		Entry: roster.Entry{
			StudentName: p.Student.FullName, BirthDate: p.Student.DateOfBirth.String(), StudentNumber: string(p.Student.Number),
			StudentLanguage: roster.LanguageName(p.Student.Language),
		},
		StudentStatus: p.StudentApprover.Consent.State.Status(),
	}
	if g := p.Guardian; g != nil {
		e.GuardianName, e.Relationship, e.GuardianNumber, e.GuardianEmail = g.Name, g.Relationship, string(g.Number), g.Email
		e.GuardianLanguage = roster.LanguageName(g.Language)
		e.GuardianStatus = p.GuardianApprover.Consent.State.Status()
	}
	var batches []string
	for _, b := range p.Batches {
		batches = append(batches, b.Name)
	}
	e.Batches = roster.JoinBatches(batches)
	return e
}
