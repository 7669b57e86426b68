package auth

import "time"

// How long rows are kept after they have expired.
const (
	ChallengesKept = 24 * time.Hour
	SessionsKept   = 30 * 24 * time.Hour
	// FormerNumbersKept is how long a coach who has given up a number must not name it as a contact.
	FormerNumbersKept = 365 * 24 * time.Hour
)
