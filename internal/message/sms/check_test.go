package sms_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
)

// TestCheck: a check accepts the right account and refuses a wrong one, and no provider gets a message.
func TestCheck(t *testing.T) {
	t.Parallel()
	t.Run("kannel", func(t *testing.T) {
		t.Parallel()
		kannel := smstest.StartKannel(t)
		wantChecks(t, map[string]check{
			"kannel":                {sms.Account{Kind: "kannel", URL: kannel.URL, User: kannel.User, Password: kannel.Password}, true, ""},
			"kannel, wrong account": {sms.Account{Kind: "kannel", URL: kannel.URL, User: kannel.User, Password: "wr0ng"}, false, "refused the user or the password"},
			"kannel, wrong path":    {sms.Account{Kind: "kannel", URL: strings.TrimSuffix(kannel.URL, "/sendsms") + "/other", User: kannel.User, Password: kannel.Password}, false, "as no sendsms of Kannel does"},
		})
	})
	twilio, gateway := smstest.NewTwilio(t), smstest.New(t)
	wantChecks(t, map[string]check{
		"twilio":                {sms.Account{Kind: "twilio", URL: twilio.URL(), User: twilio.SID, Password: twilio.Token}, true, ""},
		"twilio, wrong account": {sms.Account{Kind: "twilio", URL: twilio.URL(), User: twilio.SID, Password: "wr0ng"}, false, "refused the account SID or the auth token"},
		"http":                  {sms.Account{Kind: "http", URL: gateway.URL()}, false, ""},
		"http, closed port":     {sms.Account{Kind: "http", URL: "http://user:wr0ng@127.0.0.1:1/send"}, false, "is unreachable"},
	})
	if n := gateway.Attempts(); n != 0 {
		t.Errorf("the gateway got %d requests", n)
	}
}

// check is an account and what its check returns.
type check struct {
	account sms.Account
	checked bool
	fault   string
}

func wantChecks(t *testing.T, checks map[string]check) {
	t.Helper()
	for name, tt := range checks {
		got, err := sms.Check(t.Context(), tt.account)
		switch {
		case tt.fault == "" && (err != nil || got.Account != tt.checked || got.Account == got.Date.IsZero()):
			t.Errorf("%s: got %+v, %v", name, got, err)
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("%s: got %v, want %q", name, err, tt.fault)
		case err != nil && strings.Contains(err.Error(), "wr0ng"):
			t.Errorf("%s: the error has the password: %v", name, err)
		}
	}
}
