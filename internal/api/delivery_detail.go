package api

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notify"
)

// deliveryDetails tells a coach what the reason of a delivery means. It names no other
// coach and no other family, although they may have used up a limit.
var deliveryDetails = map[string]string{
	notify.ReasonHeld:                 "Waiting: too many messages to this number. It goes out by itself.",
	notify.ReasonGathering:            "Waiting a few minutes, so that your questions to this number leave in one SMS.",
	notify.ReasonRetrying:             "The SMS service did not take the message yet. We try again by ourselves.",
	notify.ReasonRefused:              "The message cannot reach this number. Check the number, then send the request again.",
	notify.ReasonGaveUp:               "We tried for a day and could not send the message. Check the number, then send the request again.",
	notify.ReasonUnreachable:          "The phone could not be reached, for example because it was off. Ask the person to switch it on, or check the number.",
	notify.ReasonQuietHours:           "Waiting: the person wants no messages at this hour. It goes out by itself.",
	notify.ReasonStopped:              "Not sent: the person wants no messages from you outside of the app. The question is still open there.",
	notify.ReasonRequestClosed:        "Not sent: the request was closed first.",
	notify.ReasonNotWanted:            "Not sent: the message was no longer needed.",
	approval.ReasonDestinationBlocked: "We do not send SMS to this country. Ask for a number of another country.",
	approval.ReasonTestNumber:         "This is a test number. No SMS is sent to it.",
	approval.ReasonChannelUnavailable: "We do not send messages this way any more. Choose another way, then send the request again.",
}
