package team

import (
	"strconv"
	"time"
)

// BatchTitles are the titles of the columns of a file of batches.
var BatchTitles = []string{"Batch", "Sport", "Venue", "Schedule", "Time zone", "Players", "Archived"}

// Cells returns the row of the batch in a file.
func (b *Batch) Cells() []string {
	archived := ""
	if !b.ArchivedAt.IsZero() {
		archived = b.ArchivedAt.UTC().Format(time.RFC3339)
	}
	return []string{b.Name, b.Sport, b.Venue, b.Schedule.String(), b.TimeZone, strconv.Itoa(b.PlayerCount), archived}
}
