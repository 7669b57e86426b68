package push

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// fcmQuotaWait is how long FCM wants a sender to wait after QUOTA_EXCEEDED without Retry-After.
const fcmQuotaWait = time.Minute

// fcmCodes are the error codes of FCM.
var fcmCodes = []string{
	"INVALID_ARGUMENT", "UNREGISTERED", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL", "THIRD_PARTY_AUTH_ERROR",
}

// fcmResponse is the body of a response: the name of a message, or an error.
type fcmResponse struct {
	Name  string `json:"name"`
	Error struct {
		Status  string `json:"status"`
		Details []struct {
			ErrorCode       string `json:"errorCode"`
			FieldViolations []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		} `json:"details"`
	} `json:"error"`
}

// code returns the error code of FCM, or "". badToken is true if the registration token is no
// valid one.
func (r fcmResponse) code() (code string, badToken bool) {
	for _, d := range r.Error.Details {
		if slices.Contains(fcmCodes, d.ErrorCode) {
			code = d.ErrorCode
		}
		for _, v := range d.FieldViolations {
			badToken = badToken || v.Field == "message.token"
		}
	}
	return code, badToken
}

// fcmResult returns the error that a response of FCM means, or nil if FCM has accepted the
// message. Errors of the account or of the project are temporary: an operator can correct them.
func fcmResult(resp *http.Response, body []byte, now time.Time) error {
	var parsed fcmResponse
	readable := json.Unmarshal(body, &parsed) == nil
	if resp.StatusCode == http.StatusOK && readable && parsed.Name != "" {
		return nil
	}
	f := &message.SendError{Reason: fmt.Sprintf("FCM responded %d", resp.StatusCode)}
	code, badToken := parsed.code()
	if code != "" {
		f.Reason += ", " + code
	}
	f.Wait = httpx.RetryAfter(resp.Header.Get("Retry-After"), now)
	switch status := resp.StatusCode; {
	// A 404 of a proxy or of another server has no such status.
	case code == "UNREGISTERED", status == http.StatusNotFound && parsed.Error.Status == "NOT_FOUND":
		f.Gone = true
	case status == http.StatusBadRequest && badToken:
		f.Gone = true
	case status == http.StatusTooManyRequests:
		f.Wait = cmp.Or(f.Wait, fcmQuotaWait)
	case status == http.StatusBadRequest && readable, code == "INVALID_ARGUMENT", code == "SENDER_ID_MISMATCH":
		f.Permanent = true
	}
	return f
}
