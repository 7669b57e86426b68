package input

import (
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// Batch is the BatchRequest of openapi.yaml.
type Batch struct {
	Name     string           `json:"name" rule:"required,name,min=1,max=100"`
	Sport    wire.Opt[string] `json:"sport" rule:"name,min=1,max=50"`
	Venue    wire.Opt[string] `json:"venue" rule:"name,min=1,max=200"`
	Schedule wire.Opt[[]Slot] `json:"schedule" rule:"max=21"`
	TimeZone wire.Opt[string] `json:"time_zone" rule:"min=1,max=64"`
}

// BatchPatch is the BatchPatch of openapi.yaml.
type BatchPatch struct {
	Name     *string          `json:"name" rule:"notnull,name,min=1,max=100"`
	Sport    wire.Opt[string] `json:"sport" rule:"name,min=1,max=50"`
	Venue    wire.Opt[string] `json:"venue" rule:"name,min=1,max=200"`
	Schedule wire.Opt[[]Slot] `json:"schedule" rule:"max=21"`
	TimeZone wire.Opt[string] `json:"time_zone" rule:"min=1,max=64"`
}

// Slot is the ScheduleSlot of openapi.yaml.
type Slot struct {
	Weekday string `json:"weekday" rule:"required,oneof=monday|tuesday|wednesday|thursday|friday|saturday|sunday"`
	Start   string `json:"start" rule:"required"`
	End     string `json:"end" rule:"required"`
}

// Read returns a new batch.
func (in Batch) Read(f *wire.Faults) team.BatchPatch {
	return BatchPatch{&in.Name, in.Sport, in.Venue, in.Schedule, in.TimeZone}.Read(f)
}

// Read returns the changes of a batch.
func (in BatchPatch) Read(f *wire.Faults) team.BatchPatch {
	CheckTimeZone(in.TimeZone.Some(), f)
	return team.BatchPatch{
		Name: in.Name, Sport: Value(in.Sport), Venue: Value(in.Venue), TimeZone: Value(in.TimeZone), Schedule: readSchedule(in.Schedule, f),
	}
}

// CheckTimeZone adds a fault unless zone, if any, is the name of a time zone.
func CheckTimeZone(zone *string, f *wire.Faults) {
	if zone != nil && !f.Has("/time_zone") && !notify.KnownTimeZone(*zone) {
		f.Add("/time_zone", "invalid_time_zone", "This is not a time zone, such as Asia/Kolkata.")
	}
}

// readSchedule returns the schedule of a batch; nil keeps the old one.
func readSchedule(in wire.Opt[[]Slot], f *wire.Faults) *team.Schedule {
	if !in.Set {
		return nil
	}
	schedule := team.Schedule{}
	complete := true
	for i, s := range in.Value {
		at := wire.PointTo("/schedule", i)
		day, known := team.ParseWeekday(s.Weekday)
		start, startErr := team.ParseTimeOfDay(s.Start)
		end, endErr := team.ParseTimeOfDay(s.End)
		const detail = "Write the time as HH:MM, such as 17:30."
		if startErr != nil {
			f.Add(wire.PointTo(at, "start"), "invalid_time", detail)
		}
		if endErr != nil {
			f.Add(wire.PointTo(at, "end"), "invalid_time", detail)
		}
		complete = complete && known && startErr == nil && endErr == nil
		schedule = append(schedule, team.Slot{Weekday: day, Start: start, End: end})
	}
	if !complete {
		return &schedule
	}
	for _, field := range schedule.Check() {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
	schedule.Sort()
	return &schedule
}
