package batch

import (
	"time"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/claims"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// Patch changes a batch: nil keeps a field, a pointer to the zero value clears it. Each
// value has been validated.
type Patch struct {
	Name, Sport, Venue *string
	Schedule           *team.Schedule
	// TimeZone "" means the coach's time zone.
	TimeZone *string
}

// checkName returns a fault if the name claims to be another.
func (s *Service) checkName(p Patch) error {
	if p.Name != nil && s.Claims.Group(*p.Name) {
		return fault.Validation([]fault.Field{claims.Fault("/name")})
	}
	return nil
}

// apply applies the patch to b.
func (p Patch) apply(b *team.Batch, now time.Time) {
	for field, value := range map[*string]*string{&b.Name: p.Name, &b.Sport: p.Sport, &b.Venue: p.Venue, &b.TimeZone: p.TimeZone} {
		if value != nil {
			*field = *value
		}
	}
	if p.Schedule != nil {
		b.Schedule = *p.Schedule
	}
	b.UpdatedAt = now
}

// request is the BatchRequest of openapi.yaml.
type request struct {
	Name     string                  `json:"name" rule:"required,name,min=1,max=100"`
	Sport    wire.Opt[string]        `json:"sport" rule:"name,min=1,max=50"`
	Venue    wire.Opt[string]        `json:"venue" rule:"name,min=1,max=200"`
	Schedule wire.Opt[[]slotRequest] `json:"schedule" rule:"max=21"`
	TimeZone wire.Opt[string]        `json:"time_zone" rule:"min=1,max=64"`
}

// patchRequest is the BatchPatch of openapi.yaml.
type patchRequest struct {
	Name     *string                 `json:"name" rule:"notnull,name,min=1,max=100"`
	Sport    wire.Opt[string]        `json:"sport" rule:"name,min=1,max=50"`
	Venue    wire.Opt[string]        `json:"venue" rule:"name,min=1,max=200"`
	Schedule wire.Opt[[]slotRequest] `json:"schedule" rule:"max=21"`
	TimeZone wire.Opt[string]        `json:"time_zone" rule:"min=1,max=64"`
}

// slotRequest is the ScheduleSlot of openapi.yaml.
type slotRequest struct {
	Weekday string `json:"weekday" rule:"required,oneof=monday|tuesday|wednesday|thursday|friday|saturday|sunday"`
	Start   string `json:"start" rule:"required"`
	End     string `json:"end" rule:"required"`
}

// read returns a new batch.
func (in request) read(f *wire.Faults) Patch {
	return patchRequest{&in.Name, in.Sport, in.Venue, in.Schedule, in.TimeZone}.read(f)
}

// read returns the changes of a batch.
func (in patchRequest) read(f *wire.Faults) Patch {
	input.CheckTimeZone(in.TimeZone.Some(), f)
	return Patch{
		Name: in.Name, Sport: input.Value(in.Sport), Venue: input.Value(in.Venue), TimeZone: input.Value(in.TimeZone), Schedule: readSchedule(in.Schedule, f),
	}
}

// readSchedule returns the schedule of a batch; nil keeps the old one.
func readSchedule(in wire.Opt[[]slotRequest], f *wire.Faults) *team.Schedule {
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
