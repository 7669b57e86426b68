package progress

import (
	"math"
	"time"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// measurementRequest is the MeasurementRequest of openapi.yaml.
type measurementRequest struct {
	Metric string           `json:"metric" rule:"required,name,min=1,max=50"`
	Value  float64          `json:"value" rule:"required"`
	Unit   wire.Opt[string] `json:"unit" rule:"max=20"`
	On     string           `json:"on" rule:"required"`
}

// read returns the measurement of a player.
func (in measurementRequest) read(playerID string, now time.Time, f *wire.Faults) Measurement {
	checkValue(in.Value, f)
	checkMeasured(in.On, now, f)
	return Measurement{PlayerID: playerID, Metric: in.Metric, Value: in.Value, Unit: in.Unit.Value, On: team.Date(in.On)}
}

// MeasurementPatch is the MeasurementPatch of openapi.yaml: nil keeps a field.
type MeasurementPatch struct {
	Metric *string          `json:"metric" rule:"notnull,name,min=1,max=50"`
	Value  *float64         `json:"value" rule:"notnull"`
	Unit   wire.Opt[string] `json:"unit" rule:"max=20"`
	On     *string          `json:"on" rule:"notnull"`
}

func (p MeasurementPatch) check(now time.Time, f *wire.Faults) {
	if p.Value != nil {
		checkValue(*p.Value, f)
	}
	if p.On != nil {
		checkMeasured(*p.On, now, f)
	}
}

func (p MeasurementPatch) apply(m *Measurement) {
	set(&m.Metric, p.Metric)
	set(&m.Value, p.Value)
	set(&m.Unit, input.Value(p.Unit))
	set((*string)(&m.On), p.On)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// maxValue bounds the size of a value.
const maxValue = 1e12

func checkValue(v float64, f *wire.Faults) {
	switch {
	case math.IsNaN(v) || v > maxValue:
		f.Add("/value", "too_large", "This may be at most 1000000000000.")
	case v < -maxValue:
		f.Add("/value", "too_small", "This must be at least -1000000000000.")
	}
}

// checkMeasured checks the day of a measurement. The day must have begun somewhere on earth, so it is
// at most the day after the current one in UTC.
func checkMeasured(day string, now time.Time, f *wire.Faults) {
	checkDay("/on", day, f)
	if !f.Has("/on") && day > now.UTC().AddDate(0, 0, 1).Format(time.DateOnly) {
		f.Add("/on", "in_future", "This date is in the future.")
	}
}

// oldestDay and newestDay bound the days of records.
const oldestDay, newestDay = "1950-01-01", "2149-12-31"

func checkDay(pointer, day string, f *wire.Faults) {
	switch _, err := time.Parse(time.DateOnly, day); {
	case err != nil:
		f.Add(pointer, "invalid_date", "This must be a date such as 2026-05-30.")
	case day < oldestDay:
		f.Add(pointer, "too_early", "This date is too long ago.")
	case day > newestDay:
		f.Add(pointer, "too_late", "This date is too far away.")
	}
}

// reportRequest is the ReportRequest of openapi.yaml.
type reportRequest struct {
	Title string `json:"title" rule:"required,name,min=1,max=100"`
	Text  string `json:"text" rule:"required,name,lines,min=1,max=5000"`
	From  string `json:"from" rule:"required"`
	To    string `json:"to" rule:"required"`
}

// read returns the report about a player.
func (in reportRequest) read(playerID string, f *wire.Faults) Report {
	r := Report{PlayerID: playerID, Title: in.Title, Text: in.Text, From: team.Date(in.From), To: team.Date(in.To)}
	checkDay("/from", in.From, f)
	checkDay("/to", in.To, f)
	if !f.Has("/from") {
		code, detail := r.checkPeriod()
		f.Add("/to", code, detail)
	}
	return r
}

// checkPeriod returns the code and detail of a fault of To, or "".
func (r *Report) checkPeriod() (code, detail string) {
	if r.To < r.From {
		return "before_start", "This must not be before the first day."
	}
	return "", ""
}

// ReportPatch is the ReportPatch of openapi.yaml: nil keeps a field.
type ReportPatch struct {
	Title *string `json:"title" rule:"notnull,name,min=1,max=100"`
	Text  *string `json:"text" rule:"notnull,name,lines,min=1,max=5000"`
	From  *string `json:"from" rule:"notnull"`
	To    *string `json:"to" rule:"notnull"`
}

func (p ReportPatch) check(_ time.Time, f *wire.Faults) {
	if p.From != nil {
		checkDay("/from", *p.From, f)
	}
	if p.To != nil {
		checkDay("/to", *p.To, f)
	}
}

func (p ReportPatch) apply(r *Report) {
	set(&r.Title, p.Title)
	set(&r.Text, p.Text)
	set((*string)(&r.From), p.From)
	set((*string)(&r.To), p.To)
}
