package e2e_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// spokenCode returns the code in what a call said, or "" without one.
func spokenCode(said []string) string {
	words := strings.NewReplacer("zero.", "0", "one.", "1", "two.", "2", "three.", "3", "four.", "4", "five.", "5", "six.", "6", "seven.", "7", "eight.", "8", "nine.", "9", " ", "")
	for _, line := range said {
		if code := words.Replace(line); len(code) == 6 && strings.Trim(code, "0123456789") == "" {
			return code
		}
	}
	return ""
}

func voiceOTP(role, number string) object {
	return object{"mobile_number": number, "role": role, "channel": "voice"}
}

// receiptsOf waits until the service counts n receipts of a provider of calls.
func receiptsOf(t *testing.T, scraper *touchlinetest.Operator, labels string, n string) {
	t.Helper()
	want := "touchline_sms_receipts_total{" + labels + "} " + n
	if text := string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body); !strings.Contains(text, want) {
		t.Errorf("the metrics have no %s:\n%s", want, grep(text, "receipts"))
	}
}

func grep(text, part string) string {
	var found []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "\n")
}

// TestTwilioVoice: a person presses a key and hears the code, and signs in with it. A mailbox hears no code.
// Repeated, late, forged and large calls of Twilio change nothing.
func TestTwilioVoice(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		twilio := smstest.NewTwilio(t)
		s := touchlinetest.New(t, database, func(c *config.Config) { c.Voice = config.SecretURL(twilio.Spec()) })
		scraper := s.Operator(t, operator.Metrics)
		call := func(number string) (n int) {
			t.Helper()
			n = len(twilio.Calls())
			s.Call(t, "POST", "/auth/request-otp", "", voiceOTP("coach", number)).Want(t, 202)
			eventually(t, "Twilio calls", func() bool { return len(twilio.Calls()) > n })
			if to := twilio.Calls()[n].Get("To"); to != number {
				t.Errorf("Twilio calls %s, want %s", to, number)
			}
			return n
		}
		n := call(coachNumber)
		asked := twilio.Answer(t, n)
		if code := spokenCode(asked.Said); code != "" || asked.Action == "" || asked.Language != "en-IN" {
			t.Errorf("first: got %+v", asked)
		}
		again := twilio.Press(t, n, asked, "")
		if spokenCode(again.Said) != "" || again.Action == "" {
			t.Errorf("without a key: got %+v", again)
		}
		for name, post := range map[string]func() *http.Response{
			"a forged key": func() *http.Response {
				return twilio.Post(t, again.Action, twilio.CallForm(n, "in-progress", url.Values{"Digits": {"1"}}), "another")
			},
			"a forged status": func() *http.Response { return twilio.CallStatus(t, n, "failed", "another") },
			"an SMS's secret": func() *http.Response {
				return twilio.Post(t, strings.Replace(again.Action, ".twilio_voice/", ".twilio/", 1), url.Values{"Digits": {"1"}}, twilio.Token)
			},
		} {
			if res := post(); res.StatusCode != 401 {
				t.Errorf("%s: %s, want 401", name, res.Status)
			}
		}
		if res := twilio.Post(t, again.Action, url.Values{"Digits": {strings.Repeat("1", 3<<20)}}, twilio.Token); res.StatusCode != 413 {
			t.Errorf("3 MB: %s, want 413", res.Status)
		}
		spoken := twilio.Press(t, n, again, "1")
		code := spokenCode(spoken.Said)
		if code == "" || spoken.Action != "" || strings.Contains(s.Log.String(), code) || strings.Contains(twilio.Calls()[n].Encode(), code) {
			t.Fatalf("after the key: got %+v", spoken)
		}
		if repeated := twilio.Press(t, n, again, "1"); spokenCode(repeated.Said) != code {
			t.Errorf("repeated: got %+v", repeated)
		}
		for _, status := range []string{"completed", "ringing", "completed", "busy", "failed"} { // in any order
			if res := twilio.CallStatus(t, n, status, twilio.Token); res.StatusCode != 204 {
				t.Errorf("%s: %s, want 204", status, res.Status)
			}
		}
		receiptsOf(t, scraper, `provider="twilio_voice",receipt="delivered"`, "1")
		s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "role": "coach", "otp": code}).Want(t, 200)
		if late := twilio.Press(t, n, again, "1"); spokenCode(late.Said) != "" || !strings.Contains(late.Said[0], "no longer works") {
			t.Errorf("after the sign-in: got %+v", late)
		}

		n = call(coach2Number)
		silent := twilio.Press(t, n, twilio.Press(t, n, twilio.Answer(t, n), ""), "")
		if spokenCode(silent.Said) != "" || silent.Action != "" {
			t.Errorf("a mailbox: got %+v", silent)
		}
		for range 2 {
			twilio.CallStatus(t, n, "completed", twilio.Token)
		}
		receiptsOf(t, scraper, `provider="twilio_voice",receipt="unreachable"`, "1")

		twilio.SetUnavailable(true)
		s.Call(t, "POST", "/auth/request-otp", "", voiceOTP("coach", "+919812300041")).Want(t, 202)
		eventually(t, "the log warns of Twilio", func() bool { return strings.Contains(s.Log.String(), "responded 503") })
		twilio.SetUnavailable(false)
		s.Clock.Advance(10 * time.Second)
		eventually(t, "Twilio calls later", func() bool { return len(twilio.Calls()) == n+2 })
	})
}

// TestVoiceGateway: a gateway in the documented protocol.
func TestVoiceGateway(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		var mu sync.Mutex
		var calls []map[string]string
		gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var call map[string]string
			if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, call)
		}))
		t.Cleanup(gateway.Close)
		sent := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(calls)
		}
		s := touchlinetest.New(t, database, func(c *config.Config) {
			c.Voice = config.SecretURL("http:" + strings.Replace(gateway.URL, "://", "://touchline:S3NT1NEL@", 1))
		})
		scraper := s.Operator(t, operator.Metrics)
		s.Call(t, "POST", "/auth/request-otp", "", voiceOTP("coach", coachNumber)).Want(t, 202)
		eventually(t, "the gateway gets the call", func() bool { return sent() == 1 })
		call := calls[0]
		type prompt struct {
			Lines                 []string
			Language, Keys, State string
		}
		post := func(address string, body any, password string, want int) (said prompt) {
			t.Helper()
			raw, _ := json.Marshal(body)
			mac := hmac.New(sha256.New, []byte(password))
			mac.Write(raw)
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(raw))
			req.Header.Set("X-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			response, _ := io.ReadAll(res.Body)
			if res.StatusCode != want {
				t.Errorf("%s: %s %s, want %d", raw, res.Status, response, want)
			}
			_ = json.Unmarshal(response, &said)
			return said
		}
		if call["to"] != coachNumber || call["kind"] != "otp" {
			t.Errorf("the gateway got %v", call)
		}
		var said prompt
		asked := post(call["step_url"], object{"id": call["id"]}, "S3NT1NEL", 200)
		if asked.Keys != "1" || asked.Language != "en" || spokenCode(asked.Lines) != "" {
			t.Errorf("first: got %+v", asked)
		}
		key := object{"id": call["id"], "state": asked.State, "key": "1"}
		post(call["step_url"], key, "wrong", 401)
		post(call["step_url"], object{"id": "another", "state": asked.State, "key": "1"}, "S3NT1NEL", 401)
		post(call["status_url"], object{"id": call["id"], "status": "busy"}, "wrong", 401)
		spoken := post(call["step_url"], key, "S3NT1NEL", 200)
		post(call["status_url"], object{"id": call["id"], "status": "completed"}, "S3NT1NEL", 204)
		receiptsOf(t, scraper, `provider="http_voice",receipt="delivered"`, "1")
		s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "role": "coach", "otp": spokenCode(spoken.Lines)}).Want(t, 200)

		coach := s.Coach(t, coach2Number)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		s.Clock.Advance(untilCalls(s.Clock.Now()))
		coach = s.SignIn(t, "coach", coach2Number)
		status := func() *touchlinetest.Response {
			return coach.Call(t, "GET", "/api/players/approval-status/"+added.String("player_id"), nil).Want(t, 200)
		}
		ask := func(party string) (requestID string, call map[string]string) {
			t.Helper()
			n := sent()
			requestID = status().String(party + "_request.request_id")
			coach.Call(t, "POST", "/api/approval/requests/"+requestID+"/call", nil).Want(t, 200)
			eventually(t, "the gateway gets the call", func() bool { return sent() > n })
			return requestID, calls[n]
		}
		press := func(call map[string]string, state, key string) (nextState string) {
			t.Helper()
			said = post(call["step_url"], object{"id": call["id"], "state": state, "key": key}, "S3NT1NEL", 200)
			return said.State
		}
		_, call = ask("guardian")
		check := press(call, press(call, "", ""), "1")
		if call["kind"] != "question" || said.Keys != "129" || status().String("guardian_status") != "pending" {
			t.Errorf("after 1: got %+v", said)
		}
		if press(call, check, "1"); said.Keys != "" || status().String("guardian_status") != "approved" {
			t.Errorf("after 1 and 1: got %+v", said)
		}
		request, call := ask("student") // a mailbox
		press(call, press(call, "", ""), "")
		post(call["status_url"], object{"id": call["id"], "status": "completed"}, "S3NT1NEL", 204)
		deliveries, _ := getRequest(t, coach, request).JSON["deliveries"].([]any)
		last, _ := deliveries[len(deliveries)-1].(map[string]any)
		if last["state"] != "failed" || last["detail"] != "Called. Someone or a mailbox answered and pressed no key. Nothing was decided." || status().String("student_status") != "pending" {
			t.Errorf("a mailbox: got %v", last)
		}
	})
}

// TestCallFlood: calls beyond their budget or their total are refused, and SMS still leave.
func TestCallFlood(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		scraper := s.Operator(t, operator.Metrics, operator.Deliveries)
		refused := map[string]int{}
		for i := range 20 {
			number := "+9198124000" + string(rune('0'+i/10)) + string(rune('0'+i%10))
			res := s.Call(t, "POST", "/auth/request-otp", "", voiceOTP("coach", number))
			if res.Status != 202 {
				refused[res.Want(t, 429, "otp_send_limit").String("limit")]++
			}
		}
		if refused["call_budget"] == 0 || len(refused) != 1 {
			t.Errorf("refused %v, want calls beyond the budget", refused)
		}
		s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber, "role": "coach"}).Want(t, 202)
		s.OTP(coachNumber, 0)
		eventually(t, "the costs of both channels are reported apart", func() bool {
			report := string(scraper.Call(t, "GET", "/api/admin/message-costs", nil).Want(t, 200).Body)
			return strings.Contains(report, `"channel":"voice","messages":3,"segments":3,"cost":3.6`) && strings.Contains(report, `"channel":"sms","messages":1,"segments":1,"cost":0.5`)
		})
		if text := string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body); !strings.Contains(text, "touchline_call_cost 3.6\n") || !strings.Contains(text, "touchline_call_budget 5\n") || !strings.Contains(text, "touchline_sms_cost 0.5\n") {
			t.Errorf("metrics: got %s", grep(text, "cost"))
		}
	}, func(c *config.Config) {
		c.Voice = "log"
		c.SMSBudget, c.SMSPrices = config.Budget{SMS: 20_000, Calls: 50_000}, []config.SMSPrice{{Country: "*", Price: 5_000}, {Country: "*", Of: "call", Price: 12_000}}
		c.OTPFraudRule, c.OTPSendsPerAddressHour, c.OTPSendsTotalHour = false, 0, 30
	})
}
