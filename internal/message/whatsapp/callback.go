package whatsapp

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// Callbacks reads the calls of Meta.
type Callbacks struct {
	// AppSecret signs status callbacks. Meta sends VerifyToken when an operator enters the
	// address of the callbacks.
	AppSecret, VerifyToken string
}

// callback is the body of a call.
type callback struct {
	Entry []struct {
		Changes []struct {
			Field string `json:"field"`
			Value struct {
				Statuses []status  `json:"statuses"`
				Messages []inbound `json:"messages"`
				Contacts []contact `json:"contacts"`
			} `json:"value"`
		} `json:"changes"`
	} `json:"entry"`
}

// parse parses the body of a call. It leaves out each value of another type than documented, which
// must not lose a STOP elsewhere in the call.
func parse(body []byte) (c callback, ok bool) {
	err := json.Unmarshal(body, &c)
	_, wrongType := errors.AsType[*json.UnmarshalTypeError](err)
	return c, err == nil || wrongType
}

type status struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Ref    string `json:"biz_opaque_callback_data"`
	// UserID is the recipient's id for this account; see message.Reply.UserID.
	UserID string `json:"recipient_user_id"`
	Errors []struct {
		Code int `json:"code"`
	} `json:"errors"`
}

// Read returns the reports in a call, and whether Meta has signed it. A status without our reference has the id of the
// message, which may be of another system. What has a reference of another system is left out, and so is everything that is not a status.
func (c Callbacks) Read(call message.ProviderCall) (reports []message.AccountReport, signed bool) {
	if !c.signed(call) {
		return nil, false
	}
	body, ok := parse(call.Body)
	if !ok {
		return nil, true
	}
	for _, entry := range body.Entry {
		for _, change := range entry.Changes {
			for _, s := range change.Value.Statuses {
				ref, ok := message.ParseMessageRef(s.Ref)
				if s.Ref == "" && s.ID != "" {
					ref, ok = message.MessageRef{Attempt: message.NewestAttempt, Provider: Provider}, true
				}
				if !ok || change.Field != "messages" {
					continue
				}
				report, known := s.report()
				report.UserID = userID(s.UserID)
				if ref.MessageID == "" {
					report.ProviderID = s.ID
				}
				reports = append(reports, message.AccountReport{Ref: ref, Report: report, Final: known})
			}
		}
	}
	return reports, true
}

// report returns the report of a status. known is false for a status that means nothing here.
func (s status) report() (r message.Report, known bool) {
	switch s.Status {
	case "sent":
		return message.Report{Receipt: message.ReceiptSent}, true
	case "delivered":
		return message.Report{Receipt: message.ReceiptDelivered}, true
	case "read":
		return message.Report{Receipt: message.ReceiptRead}, true
	case "failed":
		r = message.Report{Receipt: message.ReceiptUndeliverable, Cause: message.CauseNetwork, NetworkSays: s.Status}
		if len(s.Errors) > 0 {
			r.Cause, r.NetworkSays = causeOf(s.Errors[0].Code), s.Status+" "+strconv.Itoa(s.Errors[0].Code)
		}
		return r, true
	}
	return r, false
}

// signed reports, in constant time, whether the header X-Hub-Signature-256 signs the body with
// the app secret.
func (c Callbacks) signed(call message.ProviderCall) bool {
	given, isHex := strings.CutPrefix(call.Header("X-Hub-Signature-256"), "sha256=")
	signature, err := hex.DecodeString(given)
	mac := hmac.New(sha256.New, []byte(c.AppSecret))
	mac.Write(call.Body)
	return isHex && err == nil && c.AppSecret != "" && hmac.Equal(signature, mac.Sum(nil))
}

// Challenge returns the response to Meta's check of the address of the callbacks, or false if
// the call is not from Meta.
func (c Callbacks) Challenge(call message.ProviderCall) (challenge string, ok bool) {
	token := []byte(call.Query.Get("hub.verify_token"))
	equal := subtle.ConstantTimeCompare(token, []byte(c.VerifyToken)) == 1
	return call.Query.Get("hub.challenge"), equal && c.VerifyToken != "" && call.Query.Get("hub.mode") == "subscribe"
}
