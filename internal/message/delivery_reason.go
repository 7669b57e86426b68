package message

import "time"

// MessageLifetime is how long a message is retried before it fails.
const MessageLifetime = 24 * time.Hour

// DeliveriesKept is how long the delivery of an OTP or of the copy of a notification is kept
// after it was sent or given up. Deliveries of requests are kept with them.
const DeliveriesKept = 7 * 24 * time.Hour

// MessageCountsKept is longer than the longest window of a message limit.
const MessageCountsKept = 25 * time.Hour

// Reasons of a delivery that the worker sets.
const (
	// ReasonHeld: it waits for a message limit.
	ReasonHeld = "held"
	// ReasonGathering: it waits to leave in one message with other questions of the coach.
	ReasonGathering = "gathering"
	// ReasonQuietHours: it waits for the end of the recipient's quiet hours.
	ReasonQuietHours = "quiet_hours"
	// ReasonStopped: its recipient wants no messages of the coach.
	ReasonStopped = "stopped"
	// ReasonAddressStopped: the holder of the e-mail address wants no mail.
	ReasonAddressStopped = "address_stopped"
	// ReasonRequestClosed: its request was closed before it was sent.
	ReasonRequestClosed = "request_closed"
	// ReasonDisputed: the owner of the number said that it is the wrong one.
	ReasonDisputed = "disputed"
	// ReasonContactChanged: the recipient has another number now.
	ReasonContactChanged = "contact_changed"
	// ReasonPlayerRemoved: the coach removed the player.
	ReasonPlayerRemoved = "player_removed"
	// ReasonOnlyLinks: nothing is left of the text that the recipient may get.
	ReasonOnlyLinks = "only_links"
	// ReasonNotWanted: its recipient no longer needs it.
	ReasonNotWanted = "not_wanted"
	// ReasonBudget: the SMS budget is spent. It is the reason of an OTP only.
	ReasonBudget = "budget"
	// ReasonGaveUp: it was retried until the end of its lifetime.
	ReasonGaveUp = "gave_up"
	// ReasonRefused: the provider will never accept it, or accepted it and reported that no
	// message can reach the number.
	ReasonRefused = "refused"
	// ReasonUnreachable: the provider accepted it and gave up, for example because the phone
	// was off.
	ReasonUnreachable = "unreachable"
	// ReasonAwaitingStatus: the provider accepted it. Unless the provider soon reports that it
	// sent it, it leaves on another channel.
	ReasonAwaitingStatus = "awaiting_status"
	// ReasonRetrying: an attempt failed, another one follows.
	ReasonRetrying = "retrying"
)

// The reasons of a delivery that no worker handles.
const (
	ReasonDestinationBlocked = "destination_blocked"
	ReasonTestNumber         = "test_number"
	// ReasonChannelUnavailable: the service no longer has the channel of the request.
	ReasonChannelUnavailable = "channel_unavailable"
)
