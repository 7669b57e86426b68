package sms

import (
	"encoding/json"
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// msg91Report is one report of MSG91, of any version of its webhook.
type msg91Report struct {
	// CRQID is the id that Send gave the message. Messages of other systems have "" or "0".
	CRQID  msg91Field `json:"CRQID"`
	Status msg91Field `json:"status"`
	Desc   msg91Field `json:"desc"`
	Reason msg91Field `json:"failedReason"`
	// NewReason is the same of the new webhook.
	NewReason msg91Field `json:"failureReason"`
}

// msg91Field is a string that may also be written as a number, or as a list in a string.
type msg91Field string

// UnmarshalJSON implements json.Unmarshaler. It never fails: a report with a value of another
// type matches no status.
func (f *msg91Field) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) != nil {
		s = strings.Trim(string(data), `"{}[]`)
	}
	*f = msg91Field(strings.Trim(s, `[]"`))
	return nil
}

// readMSG91Reports returns the reports in a call: a form with the JSON data (webhook version
// 2), a JSON object (version 3 and the new one), or a list of them.
func readMSG91Reports(call message.ProviderCall) []msg91Report {
	if data := call.Form.Get("data"); data != "" {
		var requests []struct {
			Report []msg91Report `json:"report"`
		}
		if json.Unmarshal([]byte(data), &requests) != nil {
			return nil
		}
		var all []msg91Report
		for _, r := range requests {
			all = append(all, r.Report...)
		}
		return all
	}
	var several []msg91Report
	if json.Unmarshal(call.Body, &several) == nil {
		return several
	}
	var one msg91Report
	if json.Unmarshal(call.Body, &one) != nil {
		return nil
	}
	return []msg91Report{one}
}

// readMSG91 returns the reports in a call of MSG91, with the reference of the message and the
// secret that each one repeats. MSG91 does not sign its calls.
func readMSG91(call message.ProviderCall) (reports []message.AccountReport, signed bool) {
	for _, r := range readMSG91Reports(call) {
		crqid := string(r.CRQID)
		i := strings.LastIndex(crqid, ".")
		ref, ok := message.ParseMessageRef(crqid[:i+1] + msg91)
		if !ok {
			continue
		}
		report, final := r.read()
		reports = append(reports, message.AccountReport{Ref: ref, Secret: crqid[i+1:], Report: report, Final: final})
	}
	return reports, false
}

// read translates a report by MSG91's list of statuses.
func (r msg91Report) read() (report message.Report, final bool) {
	var failed failure
	r.Reason += r.NewReason
	switch strings.ToUpper(string(r.Status)) { // the new webhook may write the word
	case "1", "DELIVERED":
		return message.Report{Receipt: message.ReceiptDelivered}, true
	case "2", "FAILED":
		failed = readMSG91Failure(string(r.Desc + " " + r.Reason))
	case "9", "17", "NDNC", "BLOCKED", "BLOCKED NUMBER": // not wanted, blocked
		failed = blocked
	case "16", "25", "REJECTED":
		failed = filtered
	default: // pending, submitted
		return message.Report{}, false
	}
	reason := clean(strings.TrimSpace(string(r.Status + " " + r.Desc + " " + r.Reason)))
	return message.Report{Receipt: failed.receipt, Cause: failed.cause, NetworkSays: strings.ToValidUTF8(reason[:min(len(reason), 120)], "")}, true
}

// readMSG91Failure finds the failure that the words of a report describe.
func readMSG91Failure(words string) failure {
	words = strings.ToUpper(strings.NewReplacer("-", " ", "_", " ").Replace(words))
	for _, known := range []struct {
		words   string
		failure failure
	}{
		{"INVALID SUB", unknownNumber},
		{"UNKNOWN SUB", unknownNumber},
		{"INVALID NUMBER", unknownNumber},
		{"ABSENT", phoneOff},
		{"EXPIRED", phoneOff},
		{"SWITCHED OFF", phoneOff},
		{"MEMORY", memoryFull},
		{"INBOX FULL", memoryFull},
		{"TEMPLATE", filtered},
		{"HEADER", filtered},
		{"SENDER", filtered},
		{"ENTITY", filtered},
		{"DLT", filtered},
		{"BLACKLIST", blocked},
		{"BLOCK", blocked},
		{"DND", blocked},
		{"NDNC", blocked},
	} {
		if strings.Contains(words, known.words) {
			return known.failure
		}
	}
	return networkFailed
}
