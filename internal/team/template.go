package team

import (
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// MaxTemplates is how many templates a coach may have.
const MaxTemplates = 100

// Template is a text that a coach sends repeatedly.
type Template struct {
	ID, CoachID string
	Title, Text string
	CreatedAt   time.Time
}

// checkTemplates returns an error if a coach who has n templates may have no more.
func checkTemplates(n int) error {
	if n < MaxTemplates {
		return nil
	}
	return fault.Validation([]fault.Field{{Code: "too_many", Detail: "You have 100 templates. Delete one first."}})
}
