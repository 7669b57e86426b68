package sms

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio signs with HMAC-SHA1
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/message"
)

var (
	optedOut = failure{message.ReceiptUndeliverable, message.CauseOptedOut}
	filtered = failure{message.ReceiptUnreachable, message.CauseFiltered}
)

// twilioErrors are the error codes of Twilio (https://www.twilio.com/docs/api/errors) of
// requests (21…) and of messages (30…). Other codes are temporary: an operator can correct an
// account, a sender or a permission.
var twilioErrors = map[int]failure{
	21211: unknownNumber, 21217: unknownNumber, 21265: unknownNumber, // the number is not valid
	21214: unknownNumber,               // no call can reach the number
	21614: notMobile, 21635: notMobile, // no mobile number, a landline
	21610: optedOut,                                                                      // the recipient replied STOP
	21602: {message.ReceiptUndeliverable, ""}, 21617: {message.ReceiptUndeliverable, ""}, // no text, text too long

	30001: networkFailed, 30002: networkFailed, // queue overflow, account suspended
	30003: phoneOff,                            // unreachable handset
	30004: blocked,                             // message blocked
	30005: unknownNumber,                       // unknown handset
	30006: notMobile,                           // landline or unreachable carrier
	30007: filtered,                            // filtered by the carrier
	30008: networkFailed,                       // unknown error
	30010: networkFailed,                       // price above the maximum
	30022: networkFailed, 30023: networkFailed, // daily limits of the sender
	30034: filtered, 30035: filtered, // sender not registered
	30036: phoneOff, // validity period expired
}

// readTwilioReceipt is the message.ReceiptReader of Twilio. The call is a signed form.
func (c Config) readTwilioReceipt(call message.ProviderCall) (r message.Report, final, ok bool) {
	if !c.SignedByTwilio(call) {
		return message.Report{}, false, false
	}
	switch status := call.Form.Get("MessageStatus"); status {
	case "delivered", "read":
		return message.Report{Receipt: message.ReceiptDelivered}, true, true
	case "undelivered", "failed", "canceled":
		says := status
		failed := networkFailed
		if code, err := strconv.Atoi(call.Form.Get("ErrorCode")); err == nil {
			says += " " + strconv.Itoa(code)
			if known, found := twilioErrors[code]; found {
				failed = known
			}
		}
		return message.Report{Receipt: failed.receipt, Cause: failed.cause, NetworkSays: says}, true, true
	default: // queued, sending, sent
		return message.Report{}, false, true
	}
}

// SignedByTwilio reports, in constant time, whether Twilio has signed the call with the token of an
// account: the URL, and the fields of the form in the order of their names. Twilio may leave
// out the port of the URL, or add the usual one.
func (c Config) SignedByTwilio(call message.ProviderCall) bool {
	given := []byte(call.Header("X-Twilio-Signature"))
	valid := false
	for _, a := range c.Accounts {
		for _, address := range portSpellings(call.URL) {
			valid = a.Kind == twilio && hmac.Equal(given, []byte(twilioSignature(a.Password, address, call.Form))) || valid
		}
	}
	return valid
}

func twilioSignature(token, address string, form url.Values) string {
	var b strings.Builder
	b.WriteString(address)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := slices.Sorted(slices.Values(form[name]))
		for _, value := range slices.Compact(values) {
			b.WriteString(name + value)
		}
	}
	mac := hmac.New(sha1.New, []byte(token))
	mac.Write([]byte(b.String()))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// portSpellings returns the URL without its port and with it.
func portSpellings(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	host := strings.TrimSuffix(u.Host, ":"+u.Port())
	return []string{
		strings.Replace(address, u.Host, host, 1),
		strings.Replace(address, u.Host, host+":"+port, 1),
	}
}
