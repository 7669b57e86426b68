package sms

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// failure says why a message did not arrive.
type failure struct {
	receipt message.Receipt
	cause   message.Cause
}

var (
	unknownNumber = failure{message.ReceiptUndeliverable, message.CauseUnknownNumber}
	notMobile     = failure{message.ReceiptUndeliverable, message.CauseNotMobile}
	blocked       = failure{message.ReceiptUndeliverable, message.CauseBlocked}
	phoneOff      = failure{message.ReceiptUnreachable, message.CausePhoneOff}
	memoryFull    = failure{message.ReceiptUnreachable, message.CauseMemoryFull}
	networkFailed = failure{message.ReceiptUnreachable, message.CauseNetwork}
)

// mapErrors are the error codes of mobile networks (MAP, 3GPP TS 29.002) that message centres
// report in decimals as err of an SMPP receipt, beside stat:UNDELIV or stat:REJECTD.
var mapErrors = map[int]failure{
	1: unknownNumber, 5: unknownNumber, // unknown, unidentified subscriber
	6: phoneOff, 27: phoneOff, // absent subscriber
	9: blocked, 12: blocked, 13: blocked, // illegal subscriber or equipment, call barred
	11: notMobile, 21: notMobile, // teleservice not provisioned, facility not supported
	31: networkFailed, 32: memoryFull, // subscriber busy, SM delivery failure
	34: networkFailed, 35: networkFailed, 36: networkFailed, // system failure, data missing, unexpected data
}

// submitErrors are the errors of submit_sm (SMPP 3.4, section 5.1.3) in Kannel's
// NACK/<code>/<text>.
var submitErrors = map[int]failure{
	8: networkFailed, 20: networkFailed, 88: networkFailed, 100: networkFailed, // system error, queue full, throttled, temporary error
	11: unknownNumber, // invalid destination address
}

var (
	receiptStat  = regexp.MustCompile(`(?i)\bstat:([a-z]+)`)
	receiptError = regexp.MustCompile(`(?i)\berr:0*([0-9]{1,3})\b`)
	submitError  = regexp.MustCompile(`(?i)^nack/([0-9]{1,3})/`)
	receiptText  = regexp.MustCompile(`(?i)text:`)
)

// readKannelFailure reads an answer (%A) about a message that was not delivered. An answer
// without a known cause means undeliverable: the coach should check the number.
func readKannelFailure(answer string) failure {
	if m := submitError.FindStringSubmatch(answer); m != nil {
		code, _ := strconv.Atoi(m[1])
		if known, ok := submitErrors[code]; ok {
			return known
		}
	}
	stat := ""
	if m := receiptStat.FindStringSubmatch(answer); m != nil {
		stat = strings.ToUpper(m[1])
	}
	switch {
	case strings.EqualFold(answer, "NACK/Retries Exceeded"):
		return networkFailed
	case stat == "EXPIRED":
		return phoneOff
	case stat == "DELETED", stat == "UNKNOWN":
		return networkFailed
	}
	if m := receiptError.FindStringSubmatch(answer); m != nil {
		code, _ := strconv.Atoi(m[1])
		if known, ok := mapErrors[code]; ok {
			return known
		}
	}
	return failure{message.ReceiptUndeliverable, ""}
}

// readKannelReceipt is the message.ReceiptReader of Kannel. The parameters are type (%d) and
// answer (%A). The address of the call is secret; Kannel does not sign.
func readKannelReceipt(call message.ProviderCall) (r message.Report, final, ok bool) {
	answer := withoutText(call.Query.Get("answer"))
	switch call.Query.Get("type") {
	case "1":
		return message.Report{Receipt: message.ReceiptDelivered}, true, true
	case "2", "16":
		failed := readKannelFailure(answer)
		return message.Report{Receipt: failed.receipt, Cause: failed.cause, NetworkSays: shorten(answer)}, true, true
	default: // accepted or queued by the network
		return message.Report{}, false, true
	}
}

// withoutText returns a network's answer without its end: an SMPP receipt ends with the first
// characters of the message.
func withoutText(answer string) string {
	if text := receiptText.FindStringIndex(answer); text != nil {
		answer = answer[:text[0]]
	}
	return clean(strings.TrimSpace(answer))
}

// shorten returns at most 120 bytes of an answer, for the log.
func shorten(answer string) string {
	return strings.ToValidUTF8(answer[:min(len(answer), 120)], "")
}
