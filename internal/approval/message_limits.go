package approval

import "time"

// MessageWindow is the length of the window of every message limit.
const MessageWindow = 24 * time.Hour

// MessageLimits are the settings that limit the messages of coaches in any MessageWindow
// (contract section 4); 0 is no limit.
type MessageLimits struct {
	// PerNumberFromCoach limits the messages of one coach to one address.
	PerNumberFromCoach int
	// PerNumber limits the messages of all coaches to one address.
	PerNumber int
}

// MessageLimit is one limit that a message counts against.
type MessageLimit struct {
	Name string
	// Key identifies the counter.
	Key string
	// Max is the limit in any MessageWindow; 0 is no limit, but the message is counted.
	Max int
	// Variable reports whether Max may change while messages are counted, as it does with
	// the coach's tier.
	Variable bool
}

// For returns the limits that a message from a coach to an address counts against, in
// lock order: the counter that all messages of a transaction share comes first, so
// that two transactions cannot deadlock. perCoach is what the coach may send in all.
// coachID is empty after the coach has closed the account; then only PerNumber applies.
func (l MessageLimits) For(coachID string, perCoach int64, to string) []MessageLimit {
	var limits []MessageLimit
	if coachID != "" {
		limits = append(limits, MessageLimit{Name: "messages_per_coach", Key: MessagesFromKey(coachID), Max: int(perCoach), Variable: true})
		if l.PerNumberFromCoach > 0 {
			limits = append(limits, MessageLimit{
				Name: "messages_per_number_from_coach", Key: "message/" + coachID + "/" + to, Max: l.PerNumberFromCoach,
			})
		}
	}
	if l.PerNumber > 0 {
		limits = append(limits, MessageLimit{Name: "messages_per_number", Key: "message/to/" + to, Max: l.PerNumber})
	}
	return limits
}

// MessagesFromKey is the key of the counter of all messages of a coach.
func MessagesFromKey(coachID string) string { return "message/from/" + coachID }
