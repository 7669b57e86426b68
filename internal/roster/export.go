package roster

import (
	"context"
	"io"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
)

// Export writes the players of the calling coach that match a filter as CSV. It returns a
// tier_limit before it writes anything.
func (s *Service) Export(ctx context.Context, by actor.Actor, f approval.Filter, out io.Writer) error {
	if err := s.CheckFeature(ctx, by, coach.Export); err != nil {
		return err
	}
	return csvfile.WriteTable(out, ExportTitles(), func(row func(...string) error) error {
		return s.Approvals.EachPlayer(ctx, by, f, func(p *approval.Player) error { return row(ExportCells(p)...) })
	})
}

// examples are the players of the example file.
var examples = []Entry{
	{
		StudentName: "Asha Rao", BirthDate: "2014-04-30", StudentNumber: "+919800000001",
		GuardianName: "Ravi Rao", Relationship: "father", GuardianNumber: "+919800000002", GuardianEmail: "ravi@example.com",
		GuardianLanguage: language.Of("hi").InEnglish,
		Guardian2Name:    "Anita Rao", Guardian2Relationship: "mother", Guardian2Number: "+919800000004",
	},
	{StudentName: "Kiran Das", BirthDate: "2005-11-02", StudentNumber: "+919800000003"},
}

// writeEntries writes players without statuses.
func writeEntries(out io.Writer, entries []Entry) error {
	return csvfile.WriteTable(out, ExportTitles(), func(row func(...string) error) error {
		for _, e := range entries {
			if err := row(e.cells("", "")...); err != nil {
				return err
			}
		}
		return nil
	})
}

// ExportTitles returns the titles of an export. An import ignores the columns of the statuses.
func ExportTitles() []string {
	var all []string
	for _, c := range Columns {
		all = append(all, Titles[c])
	}
	return append(all, "Guardian status", "Student status")
}

// ExportCells returns the row of a player in an export. The guardian's status is "" for an adult
// without a guardian.
func ExportCells(p *approval.Player) []string {
	e := Entry{
		StudentName: p.Student.FullName, BirthDate: p.Student.DateOfBirth.String(), StudentNumber: string(p.Number(actor.Student)),
		StudentLanguage: languageName(p.Party(actor.Student).Language), Basis: p.Student.Basis.String(),
	}
	guardianStatus := ""
	if g := p.Guardian(); g != nil {
		e.GuardianName, e.Relationship, e.GuardianNumber, e.GuardianEmail = g.Name, g.Relationship, string(g.Number), g.Email
		e.GuardianLanguage = languageName(g.Language)
		guardianStatus = p.Party(actor.Guardian).Consent.State.Status()
	}
	if all := p.Guardians(); len(all) > 1 {
		g := all[1]
		e.Guardian2Name, e.Guardian2Relationship, e.Guardian2Number, e.Guardian2Email = g.Name, g.Relationship, string(g.Number), g.Email
		e.Guardian2Language = languageName(g.Language)
	}
	names := make([]string, len(p.Batches))
	for i, b := range p.Batches {
		names[i] = b.Name
	}
	e.Batches = strings.Join(names, batchSeparator+" ")
	return e.cells(guardianStatus, p.Party(actor.Student).Consent.State.Status())
}

func (e *Entry) cells(guardianStatus, studentStatus string) []string {
	cells := make([]string, 0, len(Columns)+2)
	for _, c := range Columns {
		cells = append(cells, *e.Cell(c))
	}
	return append(cells, guardianStatus, studentStatus)
}
