package approval

import "github.com/touchline/touchline/internal/message"

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

// mailDetail explains the state of a mail to a coach, and the remedy. It returns "" if there
// is nothing to explain.
func (d Delivery) mailDetail() string {
	if detail, ok := mailDetails[d.Cause]; ok && d.State == message.FailedState {
		return detail
	}
	return mailDetails[d.Reason]
}
