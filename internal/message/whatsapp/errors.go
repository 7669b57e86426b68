package whatsapp

import (
	"maps"

	"github.com/touchline/touchline/internal/message"
)

// temporary are the error codes of the Cloud API after which the same message may be accepted a
// little later (its documentation, "Error codes"). Other codes need a change of the account, of
// a template or of the number.
var temporary = map[int]bool{
	1: true, 2: true, // unknown error, service down
	4: true, 80007: true, 130429: true, 131056: true, // too many calls, messages, or messages to this number
	131000: true, 131016: true, // something went wrong, service unavailable
	133004: true, // server temporarily unavailable
}

// temporaryForAnswer is temporary for an answer to a person who just wrote. Too many messages to one number
// (131056) refuse it for good: Meta would repeat the whole call, with the replies of other people, for days.
var temporaryForAnswer = func() map[int]bool {
	codes := maps.Clone(temporary)
	delete(codes, 131056)
	return codes
}()

// causeOf returns the cause of an error code.
func causeOf(code int) message.Cause {
	switch code {
	case 131026, 131030, 131050, 131021, 130472: // cannot receive, not on the list of a test account, opted out, the sender itself, an experiment
		return message.CauseNoWhatsApp
	case 131000, 131016:
		return message.CauseNetwork
	}
	return message.CauseFiltered
}
