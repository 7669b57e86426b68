package approval

import "github.com/touchline/touchline/internal/actor"

// LinkPreview is what the link in a message shows before sign-in. It contains no
// number and no id.
type LinkPreview struct {
	// Party is the role that is asked.
	Party actor.Role
	// CoachName is empty if the profile has no name.
	CoachName   string
	StudentName string
}
