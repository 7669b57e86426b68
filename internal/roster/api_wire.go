package roster

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/wire"
)

// importSummary is the ImportSummary of openapi.yaml.
type importSummary struct {
	ImportID  string              `json:"import_id"`
	State     State               `json:"state"`
	Rows      int                 `json:"rows"`
	Counts    importCounts        `json:"counts"`
	StoppedBy *importStop         `json:"stopped_by"`
	Warnings  []importFileWarning `json:"warnings"`
	CreatedAt string              `json:"created_at"`
	EndsAt    string              `json:"ends_at"`
}

type importCounts struct {
	Faulty  int `json:"faulty"`
	Waiting int `json:"waiting"`
	Added   int `json:"added"`
	Exists  int `json:"exists"`
	Refused int `json:"refused"`
}

type importStop struct {
	Code       string  `json:"code"`
	Detail     string  `json:"detail"`
	NeededTier *string `json:"needed_tier"`
}

type importFileWarning struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// importWithRows is the Import of openapi.yaml.
type importWithRows struct {
	importSummary
	Columns   []readColumn        `json:"columns"`
	DateOrder *string             `json:"date_order"`
	Preview   []importRowResponse `json:"preview"`
	Faulty    []importRowResponse `json:"faulty_rows"`
}

// readColumn is the ImportColumn of openapi.yaml.
type readColumn struct {
	Title   string  `json:"title"`
	Column  *string `json:"column"`
	Guessed bool    `json:"guessed"`
}

func newReadColumns(columns []ReadColumn) []readColumn {
	out := make([]readColumn, 0, min(maxTitles, len(columns)))
	for _, c := range columns[:min(maxTitles, len(columns))] {
		out = append(out, readColumn{c.Title, wire.OrNull(string(c.Column)), c.Guessed})
	}
	return out
}

// importRowResponse is the ImportRow of openapi.yaml.
type importRowResponse struct {
	Row      int              `json:"row"`
	State    RowState         `json:"state"`
	PlayerID *string          `json:"player_id"`
	Entry    importEntry      `json:"entry"`
	Faults   []importRowFault `json:"faults"`
}

type importEntry struct {
	StudentName      *string `json:"student_name"`
	BirthDate        *string `json:"date_of_birth"`
	StudentNumber    *string `json:"student_number"`
	StudentLanguage  *string `json:"student_language"`
	GuardianName     *string `json:"guardian_name"`
	Relationship     *string `json:"relationship"`
	GuardianNumber   *string `json:"guardian_number"`
	GuardianEmail    *string `json:"guardian_email"`
	GuardianLanguage *string `json:"guardian_language"`
	Guardian2Name    *string `json:"guardian_2_name"`
	Guardian2Rel     *string `json:"guardian_2_relationship"`
	Guardian2Number  *string `json:"guardian_2_number"`
	Guardian2Email   *string `json:"guardian_2_email"`
	Guardian2Lang    *string `json:"guardian_2_language"`
	Batches          *string `json:"batches"`
	Basis            *string `json:"basis"`
	OtherGuardians   int     `json:"other_guardians"`
}

type importRowFault struct {
	Column *string `json:"column"`
	Code   string  `json:"code"`
	Detail string  `json:"detail"`
}

// response returns an import with its first rows and its first faulty rows.
func (s *Service) response(ctx context.Context, by actor.Actor, id string) (importWithRows, error) {
	i, err := s.Import(ctx, by, id)
	if err != nil {
		return importWithRows{}, err
	}
	preview, err := s.Rows(ctx, by, id, RowFilter{Limit: previewRows})
	if err != nil {
		return importWithRows{}, err
	}
	faulty, err := s.Rows(ctx, by, id, RowFilter{State: Faulty, Limit: faultyRows})
	if err != nil {
		return importWithRows{}, err
	}
	out := importWithRows{newImportSummary(i), newReadColumns(i.Layout.Columns), wire.OrNull(string(i.Layout.DateOrder)), []importRowResponse{}, []importRowResponse{}}
	for _, row := range preview {
		out.Preview = append(out.Preview, newImportRow(i, row))
	}
	for _, row := range faulty {
		out.Faulty = append(out.Faulty, newImportRow(i, row))
	}
	return out, nil
}

func newImportSummary(i *Import) importSummary {
	out := importSummary{
		ImportID: i.ID, State: i.State(), Rows: i.Rows(),
		Counts: importCounts{
			Faulty: i.Counts[Faulty], Waiting: i.Counts[Waiting], Added: i.Counts[Added],
			Exists: i.Counts[Exists], Refused: i.Counts[Refused],
		},
		Warnings:  []importFileWarning{},
		CreatedAt: wire.Timestamp(i.CreatedAt), EndsAt: wire.Timestamp(i.EndsAt),
	}
	if i.Stop != nil {
		out.StoppedBy = &importStop{i.Stop.Code, i.Stop.Detail, wire.OrNull(i.Stop.NeededTier)}
	}
	for _, warning := range i.Warnings {
		out.Warnings = append(out.Warnings, importFileWarning{warning.Code, warning.Detail})
	}
	return out
}

// newImportRow returns a row. A row that waits behind a limit shows the limit as a fault.
func newImportRow(i *Import, row ImportRow) importRowResponse {
	e := row.Entry
	out := importRowResponse{
		Row: row.Number, State: row.State, PlayerID: wire.OrNull(row.PlayerID),
		Entry: importEntry{
			wire.OrNull(e.StudentName), wire.OrNull(e.BirthDate), wire.OrNull(e.StudentNumber), wire.OrNull(e.StudentLanguage),
			wire.OrNull(e.GuardianName), wire.OrNull(e.Relationship), wire.OrNull(e.GuardianNumber), wire.OrNull(e.GuardianEmail), wire.OrNull(e.GuardianLanguage),
			wire.OrNull(e.Guardian2Name), wire.OrNull(e.Guardian2Relationship), wire.OrNull(e.Guardian2Number), wire.OrNull(e.Guardian2Email), wire.OrNull(e.Guardian2Language),
			wire.OrNull(e.Batches), wire.OrNull(e.Basis), e.OtherGuardians,
		},
		Faults: []importRowFault{},
	}
	for _, fault := range row.Faults {
		out.Faults = append(out.Faults, importRowFault{wire.OrNull(string(fault.Column)), fault.Code, fault.Detail})
	}
	if row.State == Waiting && i.Stop != nil {
		out.Faults = append(out.Faults, importRowFault{nil, i.Stop.Code, i.Stop.Detail})
	}
	return out
}
