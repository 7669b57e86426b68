package approval

import "github.com/touchline/touchline/internal/actor"

// Asking is what the link in a message tells whoever opens it: who asks whom,
// and about which student. It holds no number and no id.
type LinkPreview struct {
	// Party is who is asked.
	Party actor.Role
	// CoachName is empty where the coach has taken it out of the profile.
	CoachName   string
	StudentName string
}
