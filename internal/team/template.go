package team

import (
	"time"

	"github.com/touchline/touchline/internal/fault"
)

const (
	// MaxTemplateTitle is the length of the longest title, in characters.
	MaxTemplateTitle = 100
	// MaxTemplates is how many templates a coach may have.
	MaxTemplates = 100
)

// Template is a text that a coach sends repeatedly.
type Template struct {
	ID, CoachID string
	Title, Text string
	CreatedAt   time.Time
}

// CheckTemplates returns an error if a coach who has n templates may have no more.
func CheckTemplates(n int) error {
	if n < MaxTemplates {
		return nil
	}
	return fault.Validation([]fault.Field{{Code: "too_many", Detail: "You have 100 templates. Delete one first."}})
}
