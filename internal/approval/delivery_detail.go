package approval

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/wire"
)

// deliveryDetails tells a coach what the reason of a delivery means. It names no other
// coach and no other family, although they may have used up a limit.
var deliveryDetails = map[string]string{
	message.ReasonGathering:          "Waiting a few minutes, so that your questions to this number leave in one SMS.",
	message.ReasonRetrying:           "The SMS service did not take the message yet. We try again by ourselves.",
	message.ReasonAwaitingStatus:     "WhatsApp has the message. If it cannot deliver it, an SMS follows by itself.",
	message.ReasonRefused:            "The message cannot reach this number. Check the number, then send the request again.",
	message.ReasonGaveUp:             "We tried for a day and could not send the message. Check the number, then send the request again.",
	message.ReasonUnreachable:        "The phone could not be reached, for example because it was off. Ask the person to switch it on, or check the number.",
	message.ReasonQuietHours:         "Waiting: the person wants no messages at this hour. It goes out by itself.",
	message.ReasonStopped:            "Not sent: the person wants no messages from you outside of the app. The question is still open there.",
	message.ReasonAddressStopped:     "Not sent: the person with this e-mail address wants no mail from us. Use SMS, or correct the address.",
	message.ReasonRequestClosed:      "Not sent: the request was closed first.",
	message.ReasonNotWanted:          "Not sent: the message was no longer needed.",
	message.ReasonDestinationBlocked: "We do not send SMS to this country. Ask for a number of another country.",
	message.ReasonTestNumber:         "This is a test number. No SMS is sent to it.",
	message.ReasonChannelUnavailable: "We do not send messages this way any more. Choose another way, then send the request again.",
}

// HoldDetails tell a coach what a held message waits for.
var HoldDetails = map[message.Hold]string{
	message.HoldNumber:     "Waiting: too many messages to this number. It goes out by itself.",
	message.HoldCoach:      "Waiting: you have sent many messages today. It goes out by itself.",
	message.HoldService:    "Waiting: this service has reached a limit on messages. It goes out by itself.",
	message.HoldBudget:     "Waiting: this service has spent its money for SMS for now. It goes out by itself.",
	message.HoldOverBudget: "Waiting: this message costs more than this service may spend. Tell the people who run it.",
	message.HoldResend:     "Waiting: this person got the question a short time ago. It goes out by itself.",
}

// causeDetails replace deliveryDetails where the provider named the cause.
var causeDetails = map[message.Cause]string{
	message.CauseUnknownNumber: "This number does not exist. Ask for the right one, correct it, then send the request again.",
	message.CauseNotMobile:     "This number cannot get SMS, for example because it is a landline. Ask for a mobile number, correct it, then send the request again.",
	message.CausePhoneOff:      "The phone has been off or without network for %s. Ask the person to switch it on, or check the number.",
	message.CauseMemoryFull:    "The phone has no space for messages. Ask the person to delete some, then send the request again.",
	message.CauseBlocked:       "The phone or its network does not take our messages. Ask the person for another number.",
	message.CauseOptedOut:      "The person replied STOP and gets no SMS from this service. Talk to them. The question is still open in the app.",
	message.CauseFiltered:      "The phone network did not take our text. The people who run this service can correct that. Call the person meanwhile.",
	message.CauseNoWhatsApp:    "This number takes no WhatsApp messages from us. Call the person.",
	message.CauseNetwork:       "The phone network had a fault and lost the message. Send the request again later.",
}

// Detail explains the state of a message to a coach, and the remedy. It returns "" if
// there is nothing to explain.
func (d Delivery) Detail() string {
	if d.Hold != "" && d.State == message.QueuedState {
		return d.holdDetail()
	}
	if detail := d.mailDetail(); detail != "" && d.Channel == message.Email {
		return detail
	}
	if d.Channel == message.Voice {
		return cmp.Or(callDetails[d.Cause], callDetails[d.Reason], callDetails[d.State])
	}
	detail := deliveryDetails[d.Reason]
	if d.State != message.FailedState {
		return detail
	}
	detail = cmp.Or(causeDetails[message.Cause(d.Cause)], detail)
	if message.Cause(d.Cause) == message.CausePhoneOff {
		return fmt.Sprintf(detail, waited(d.At.Sub(d.QueuedAt)))
	}
	return detail
}

// holdDetail says what a held message waits for, and until when if that is known.
func (d Delivery) holdDetail() string {
	detail := HoldDetails[d.Hold]
	switch {
	case d.Hold == message.HoldNumber && d.Channel == message.Email:
		return "Waiting: too many messages to this address. It goes out by itself."
	case d.Hold == message.HoldResend:
		return "Waiting until " + wire.Timestamp(d.DueAt) + strings.TrimPrefix(detail, "Waiting")
	}
	return detail
}

// waited formats a time in whole hours, or days from two days on.
func waited(d time.Duration) string {
	switch hours := int(d.Hours()); {
	case hours < 1:
		return "less than an hour"
	case hours == 1:
		return "an hour"
	case hours < 48:
		return fmt.Sprintf("%d hours", hours)
	default:
		return fmt.Sprintf("%d days", hours/24)
	}
}

// mailDetails replace causeDetails and deliveryDetails for mails, by cause and by reason.
var mailDetails = map[string]string{
	string(message.CauseUnknownAddress): "This e-mail address does not exist. Ask for the right one, correct it, then send the request again.",
	string(message.CauseMailboxFull):    "The mailbox is full. Ask the person to make space in it, or send the request by SMS.",
	string(message.CauseFiltered):       "The mail server did not take our mail. The people who run this service can correct that. Send the request by SMS meanwhile.",
	string(message.CauseNetwork):        "The mail server of the person did not respond. Send the request again later, or by SMS.",
	message.ReasonGathering:             "Waiting a few minutes, so that your questions to this address leave in one mail.",
	message.ReasonRetrying:              "The mail server did not take the mail yet. We try again by ourselves.",
	message.ReasonRefused:               "The mail cannot reach this address. Check the address, then send the request again.",
	message.ReasonGaveUp:                "We tried for a day and could not send the mail. Check the address, then send the request again.",
	message.ReasonUnreachable:           "The mail server of the person gave up. Send the request again later, or by SMS.",
	message.ReasonTestNumber:            "This is a test number. No mail is sent for it.",
}

// callDetails replace causeDetails and deliveryDetails for calls, by cause, by reason and by state.
var callDetails = map[string]string{
	message.SentState:                "Called. We do not know yet if a person listened.",
	message.DeliveredState:           "Called, and a person listened.",
	string(message.CauseNoAnswer):    "Called, no answer. Talk to the person, or send a reminder.",
	string(message.CauseBusy):        "Called, the number was busy. Talk to the person, or send a reminder.",
	string(message.CauseNoKey):       "Called. Someone or a mailbox answered and pressed no key. Nothing was decided.",
	string(message.CauseNoCall):      "The call failed: no call can reach this number. Check the number.",
	message.ReasonRefused:            "The call failed: no call can reach this number. Check the number.",
	message.ReasonUnreachable:        "Called, no answer. Talk to the person, or send a reminder.",
	message.ReasonGaveUp:             "The call could not be made. You can have the person called again.",
	message.ReasonRetrying:           "The call could not be made yet. We try again by ourselves until 20:00.",
	message.ReasonQuietHours:         "Waiting: the phone rings from 9:00 to 20:00. It rings by itself.",
	message.ReasonStopped:            "Not called: the person wants no messages from you outside of the app. The question is still open there.",
	message.ReasonRequestClosed:      "Not called: the request was closed first.",
	message.ReasonNotWanted:          "Not called: the person wants no calls from us.",
	message.ReasonDestinationBlocked: "We do not call this country. Ask for a number of another country.",
	message.ReasonTestNumber:         "This is a test number. It is not called.",
	message.ReasonChannelUnavailable: "This service makes no calls any more.",
}

// mailDetail explains the state of a mail to a coach, and the remedy. It returns "" if there
// is nothing to explain.
func (d Delivery) mailDetail() string {
	if detail, ok := mailDetails[d.Cause]; ok && d.State == message.FailedState {
		return detail
	}
	return mailDetails[d.Reason]
}
