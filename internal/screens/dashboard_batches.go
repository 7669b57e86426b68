package screens

import (
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// maxDashboardBatches is the number of batches that the dashboard lists.
const maxDashboardBatches = 50

type dashboardBatch struct {
	BatchID     string `json:"batch_id"`
	Name        string `json:"name"`
	PlayerCount int    `json:"player_count"`
}

// attendanceToday is a batch that trains today, or has attendance today.
type attendanceToday struct {
	dashboardBatch
	Venue  *string         `json:"venue"`
	Date   string          `json:"date"`
	Times  []timesResponse `json:"times"`
	Taken  bool            `json:"taken"`
	Counts team.Counts     `json:"counts"`
}

type timesResponse struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

func newDashboardBatches(open []*team.Batch) []dashboardBatch {
	list := []dashboardBatch{}
	for _, b := range open[:min(len(open), maxDashboardBatches)] {
		list = append(list, dashboardBatch{b.ID, b.Name, b.PlayerCount})
	}
	return list
}

func newAttendanceToday(today []team.Today) []attendanceToday {
	list := []attendanceToday{}
	for _, t := range today {
		a := attendanceToday{
			dashboardBatch: dashboardBatch{t.Batch.ID, t.Batch.Name, t.Batch.PlayerCount}, Venue: wire.OrNull(t.Batch.Venue),
			Date: string(t.Date), Times: []timesResponse{}, Taken: t.Sheet != nil, Counts: team.Counts(nil).All(),
		}
		for _, slot := range t.Slots {
			a.Times = append(a.Times, timesResponse{slot.Start.String(), slot.End.String()})
		}
		if t.Sheet != nil {
			a.Counts = t.Sheet.Counts.All()
		}
		list = append(list, a)
	}
	return list
}
