package approval

import "time"

const (
	// LinksKept is how long an expired link of a closed request is kept. Until then it leads the
	// party that was asked to the player, after a sign-in.
	LinksKept = 30 * 24 * time.Hour
	// RemindersKept is the longest REMINDER_WINDOW.
	RemindersKept = 90 * 24 * time.Hour
	// MessageCountsKept is longer than the longest window of a message limit.
	MessageCountsKept = 48 * time.Hour
)
