package screens

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/team"
)

// familyExport reads what a guardian or student can take away. Each section has the data of the
// caller, and what the caller may read about players who have the service; never the number, the
// answers or the messages of the other party.
type familyExport struct {
	Service
	by actor.Actor
	// medical has the texts by player: the file has them twice, and only the first counts as a reading.
	medical map[string]string
}

// FamilySections returns the sections of the export of a guardian or student.
func (s Service) FamilySections(by actor.Actor) []privacy.Section {
	e := familyExport{s, by, map[string]string{}}
	const player = "player_id"
	return []privacy.Section{
		{Name: "account", Columns: []string{"mobile_number", "role", "language", "time_zone"}, Each: e.account},
		{Name: "sessions", Columns: []string{"device", "created_at", "last_used_at"}, Each: e.sessions},
		{Name: "players", Columns: []string{player, "coach", "student", "state", "date_of_birth", "name", "relationship", "email"}, Each: e.players},
		{Name: "answers", Columns: []string{player, "created_at", "action", "reason", "via"}, Each: e.answers},
		{Name: "medical", Columns: []string{player, "text"}, Each: e.medicalTexts},
		{Name: "medical_readings", Columns: []string{player, "created_at", "reader", "name", "purpose"}, Each: e.readings},
		{Name: "attendance", Columns: []string{player, "date", "batch", "mark"}, Each: e.attendance},
		{Name: "fees", Columns: []string{player, "title", "due_on", "currency", "amount", "paid", "state"}, Each: e.feeRows},
		{Name: "messages", Columns: []string{player, "created_at", "from", "text"}, Each: e.messages},
		{Name: "progress", Columns: []string{player, "date", "metric", "value", "unit"}, Each: e.measurements},
		{Name: "reports", Columns: []string{player, "first_day", "last_day", "title", "text"}, Each: e.reports},
		{Name: "notifications", Columns: []string{"created_at", "title", "text"}, Each: e.notifications},
	}
}

// FamilyReceipts returns the files of the receipts of a guardian or student. While the log of consents has
// stopped, the export has the records up to then only.
func (s Service) FamilyReceipts(by actor.Actor) privacy.ExportFiles {
	return func(ctx context.Context, add func(name string, content []byte) error) error {
		return eachPage(func(after proof.Record) ([]proof.Record, error) {
			return s.Proof.Receipts(ctx, by, after.Body.RecordID, archivePage)
		}, func(r proof.Record) error {
			receipt, err := s.Proof.Receipt(ctx, by, r.Body.RecordID)
			if r.Position < 0 && fault.KindOf(err) == fault.Unavailable {
				return nil
			}
			if err != nil {
				return err
			}
			return add("receipts/"+r.Body.RecordID+".tlog-proof", receipt.Encode())
		})
	}
}

// rowFunc writes one row of a section.
type rowFunc = func(values ...any) error

// eachPlayer calls fn with each player that names the caller. A player about which the caller may not
// read what fn reads has no rows.
func (e familyExport) eachPlayer(ctx context.Context, fn func(*approval.Player) error) error {
	return eachPage(func(after *approval.Player) ([]*approval.Player, error) {
		page := approval.Page{Limit: archivePage}
		if after != nil {
			page.After.ID = after.ID
		}
		return e.Approvals.Links(ctx, e.by, false, page)
	}, func(p *approval.Player) error {
		err := fn(p)
		if kind := fault.KindOf(err); err != nil && (kind == fault.Forbidden || kind == fault.NotFound) {
			return nil
		}
		return err
	})
}

func (e familyExport) account(ctx context.Context, row rowFunc) error {
	p, err := e.DB.Outbox.Preferences(ctx, e.by.Number)
	if err != nil {
		return err
	}
	return row(string(e.by.Number), string(e.by.Role), textOrNil(p.Language), textOrNil(p.TimeZone))
}

func (e familyExport) sessions(ctx context.Context, row rowFunc) error {
	return eachPage(func(after *auth.Session) ([]*auth.Session, error) {
		before := ""
		if after != nil {
			before = after.ID
		}
		return e.Accounts.Sessions(ctx, e.by, before, archivePage)
	}, func(s *auth.Session) error { return row(textOrNil(s.DeviceName), s.CreatedAt, s.LastUsedAt) })
}

func (e familyExport) players(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		state := string(p.SeenBy(e.by, e.by.Role).Consent.State)
		if p.DisclosedTo(e.by) == approval.Outline {
			return row(p.ID, textOrNil(p.CoachName), p.Student.FullName, state, nil, nil, nil, nil)
		}
		own := approval.Person{}
		if e.by.Role == actor.Guardian {
			own = p.SeenBy(e.by, actor.Guardian).Person
		}
		return row(p.ID, textOrNil(p.CoachName), p.Student.FullName, state, p.Student.DateOfBirth.String(), textOrNil(own.Name), textOrNil(own.Relationship), textOrNil(own.Email))
	})
}

func (e familyExport) answers(ctx context.Context, row rowFunc) error {
	err := eachPage(func(after string) ([]string, error) { return e.Approvals.FormerPlayers(ctx, e.by, after, archivePage) }, func(id string) error {
		history, err := e.Approvals.FormerDecisions(ctx, e.by, id)
		for _, r := range history {
			if err := row(id, r.At, string(r.Action), textOrNil(r.Reason), string(r.Via)); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		_, history, err := e.Approvals.Status(ctx, e.by, p.ID)
		for _, r := range history {
			if r.Party != e.by.Role || r.ApproverID != e.by.AccountID {
				continue
			}
			if err := row(p.ID, r.At, string(r.Action), textOrNil(r.Reason), string(r.Via)); err != nil {
				return err
			}
		}
		return err
	})
}

func (e familyExport) medicalTexts(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		text, read := e.medical[p.ID]
		if !read && p.Student.HasMedical {
			got, err := e.Approvals.Medical(ctx, e.by, p.ID, approval.ReadToExport)
			if err != nil {
				return err
			}
			text = got.Student.Medical
			e.medical[p.ID] = text
		}
		if text == "" {
			return nil
		}
		return row(p.ID, text)
	})
}

func (e familyExport) readings(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		return eachPage(func(after approval.Reading) ([]approval.Reading, error) {
			return e.Approvals.MedicalReadings(ctx, e.by, p.ID, approval.Page{Limit: archivePage, After: approval.Keyset{ID: after.ID}})
		}, func(r approval.Reading) error {
			return row(p.ID, r.At, string(r.Role), textOrNil(r.ReaderName), string(r.Purpose))
		})
	})
}

func (e familyExport) attendance(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		return eachPage(func(after attendance.Attended) ([]attendance.Attended, error) {
			list, err := e.Attended.OfPlayer(ctx, e.by, p.ID, attendance.Period{}, after, archivePage)
			if err != nil {
				return nil, err
			}
			return list.Marks, nil
		}, func(m attendance.Attended) error { return row(p.ID, string(m.Date), m.BatchName, string(m.Mark)) })
	})
}

func (e familyExport) feeRows(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		return eachPage(func(after fee.FamilyFee) ([]fee.FamilyFee, error) {
			page := fee.Page{Limit: archivePage}
			if after.Fee != nil {
				page.After = fee.Position{DueOn: after.DueOn, ID: after.ID}
			}
			return e.Fees.ListForFamily(ctx, e.by, p.ID, page)
		}, func(f fee.FamilyFee) error {
			return row(p.ID, f.Title, string(f.DueOn), f.Currency, team.FormatAmount(f.Amount, f.Currency), team.FormatAmount(f.Paid, f.Currency), string(f.Status))
		})
	})
}

func (e familyExport) messages(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		return eachPage(func(after conversation.Entry) ([]conversation.Entry, error) {
			return e.Conversations.Conversation(ctx, e.by, p.ID, after.ID, archivePage)
		}, func(m conversation.Entry) error {
			from := e.by.Role
			if m.FromCoach {
				from = actor.Coach
			}
			return row(p.ID, m.CreatedAt, string(from), m.Text)
		})
	})
}

func (e familyExport) measurements(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		return eachPage(func(after progress.Measurement) ([]progress.Measurement, error) {
			return e.Records.Measurements(ctx, e.by, p.ID, "", after, archivePage)
		}, func(m progress.Measurement) error {
			return row(p.ID, string(m.On), m.Metric, m.Value, textOrNil(m.Unit))
		})
	})
}

func (e familyExport) reports(ctx context.Context, row rowFunc) error {
	return e.eachPlayer(ctx, func(p *approval.Player) error {
		return eachPage(func(after progress.Report) ([]progress.Report, error) {
			return e.Records.Reports(ctx, e.by, p.ID, after.ID, archivePage)
		}, func(r progress.Report) error { return row(p.ID, string(r.From), string(r.To), r.Title, r.Text) })
	})
}

func (e familyExport) notifications(ctx context.Context, row rowFunc) error {
	return eachPage(func(after message.Notification) ([]message.Notification, error) {
		return e.Tray.List(ctx, e.by, false, after.Seq, archivePage)
	}, func(n message.Notification) error { return row(n.CreatedAt, n.Title, n.Body) })
}

// textOrNil returns nil for an empty text.
func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
