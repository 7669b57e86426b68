package team

import "time"

// Report is a coach's text about the performance of a player.
type Report struct {
	ID, CoachID, PlayerID string
	Title, Text           string
	// From and To are the first and last day of the period, YYYY-MM-DD.
	From, To             string
	CreatedAt, UpdatedAt time.Time
}

// ReportPatch changes a report; nil keeps a field.
type ReportPatch struct{ Title, Text, From, To *string }

// Apply changes r.
func (p ReportPatch) Apply(r *Report) {
	set(&r.Title, p.Title)
	set(&r.Text, p.Text)
	set(&r.From, p.From)
	set(&r.To, p.To)
}

// CheckPeriod returns why the period is invalid, as the code and detail of a fault of To, or "".
func (r *Report) CheckPeriod() (code, detail string) {
	if r.To < r.From {
		return "before_start", "This must not be before the first day."
	}
	return "", ""
}
