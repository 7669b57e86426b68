package team

import (
	"strconv"
	"time"
)

// BatchTitles are the column titles of an exported list of batches.
var BatchTitles = []string{"Batch", "Sport", "Venue", "Schedule", "Time zone", "Players", "Archived"}

// Cells returns the batch as one row under BatchTitles.
func (b *Batch) Cells() []string {
	archived := ""
	if !b.ArchivedAt.IsZero() {
		archived = b.ArchivedAt.UTC().Format(time.RFC3339)
	}
	return []string{b.Name, b.Sport, b.Venue, b.Schedule.String(), b.TimeZone, strconv.Itoa(b.PlayerCount), archived}
}
