package team

import "time"

// Mark says whether a player was at a training.
type Mark string

// The marks.
const (
	Present Mark = "present"
	Absent  Mark = "absent"
	Late    Mark = "late"
	Excused Mark = "excused"
)

// Marks lists every mark.
var Marks = []Mark{Present, Absent, Late, Excused}

// Counts are the number of marks of each kind.
type Counts map[Mark]int

// Attended is the number of players who were present or late.
func (c Counts) Attended() int { return c[Present] + c[Late] }

// All returns the counts with 0 for each mark that is missing.
func (c Counts) All() Counts {
	all := Counts{}
	for _, mark := range Marks {
		all[mark] = c[mark]
	}
	return all
}

// SheetSummary is the attendance of a batch on a day without its marks.
type SheetSummary struct {
	Date            Date
	Version         int64
	OutsideSchedule bool
	Counts          Counts
	UpdatedAt       time.Time
}

// Today is a batch on the current day of its time zone, with a training or a sheet.
type Today struct {
	Batch *Batch
	Date  Date
	Slots Schedule
	// Sheet is nil while attendance is missing.
	Sheet *SheetSummary
}

// Start returns when the first training of the day starts; without one, the end of the day.
func (t Today) Start() time.Time {
	zone := Zone(t.Batch.TimeZone)
	if len(t.Slots) == 0 {
		return t.Date.End(zone)
	}
	return t.Date.At(t.Slots[0].Start, zone)
}
