package input

import (
	"time"

	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// Measurement is the MeasurementRequest of openapi.yaml.
type Measurement struct {
	Metric string           `json:"metric" rule:"required,name,min=1,max=50"`
	Value  float64          `json:"value" rule:"required"`
	Unit   wire.Opt[string] `json:"unit" rule:"max=20"`
	On     string           `json:"on" rule:"required"`
}

// Read returns the measurement of a player.
func (in Measurement) Read(playerID string, now time.Time, f *wire.Faults) team.Measurement {
	checkValue("/value", in.Value, f)
	checkMeasured("/on", in.On, now, f)
	return team.Measurement{PlayerID: playerID, Metric: in.Metric, Value: in.Value, Unit: in.Unit.Value, On: in.On}
}

// MeasurementPatch is the MeasurementPatch of openapi.yaml.
type MeasurementPatch struct {
	Metric *string          `json:"metric" rule:"notnull,name,min=1,max=50"`
	Value  *float64         `json:"value" rule:"notnull"`
	Unit   wire.Opt[string] `json:"unit" rule:"max=20"`
	On     *string          `json:"on" rule:"notnull"`
}

// Read returns the changes.
func (in MeasurementPatch) Read(now time.Time, f *wire.Faults) team.MeasurementPatch {
	if in.Value != nil {
		checkValue("/value", *in.Value, f)
	}
	if in.On != nil {
		checkMeasured("/on", *in.On, now, f)
	}
	return team.MeasurementPatch{Metric: in.Metric, Value: in.Value, Unit: Value(in.Unit), On: in.On}
}

// Report is the ReportRequest of openapi.yaml.
type Report struct {
	Title string `json:"title" rule:"required,name,min=1,max=100"`
	Text  string `json:"text" rule:"required,name,lines,min=1,max=5000"`
	From  string `json:"from" rule:"required"`
	To    string `json:"to" rule:"required"`
}

// Read returns the report about a player.
func (in Report) Read(playerID string, f *wire.Faults) team.Report {
	r := team.Report{PlayerID: playerID, Title: in.Title, Text: in.Text, From: in.From, To: in.To}
	checkDay("/from", in.From, f)
	checkDay("/to", in.To, f)
	if !f.Has("/from") {
		code, detail := r.CheckPeriod()
		f.Add("/to", code, detail)
	}
	return r
}

// ReportPatch is the ReportPatch of openapi.yaml.
type ReportPatch struct {
	Title *string `json:"title" rule:"notnull,name,min=1,max=100"`
	Text  *string `json:"text" rule:"notnull,name,lines,min=1,max=5000"`
	From  *string `json:"from" rule:"notnull"`
	To    *string `json:"to" rule:"notnull"`
}

// Read returns the changes.
func (in ReportPatch) Read(f *wire.Faults) team.ReportPatch {
	if in.From != nil {
		checkDay("/from", *in.From, f)
	}
	if in.To != nil {
		checkDay("/to", *in.To, f)
	}
	return team.ReportPatch{Title: in.Title, Text: in.Text, From: in.From, To: in.To}
}

func checkValue(pointer string, v float64, f *wire.Faults) {
	code, detail := team.CheckValue(v)
	f.Add(pointer, code, detail)
}

func checkMeasured(pointer, day string, now time.Time, f *wire.Faults) {
	code, detail := team.CheckMeasured(day, now)
	f.Add(pointer, code, detail)
}

func checkDay(pointer, day string, f *wire.Faults) {
	code, detail := team.CheckDay(day)
	f.Add(pointer, code, detail)
}
