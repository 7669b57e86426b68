package auth

import "time"

// How long rows are kept after they have expired.
const (
	ChallengesKept = 24 * time.Hour
	SessionsKept   = 30 * 24 * time.Hour
)
