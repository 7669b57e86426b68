package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// sendBy makes a service send through Kannel.
func sendBy(sendsms, user, password string) touchlinetest.Option {
	return func(c *config.Config) {
		c.SMS = config.SecretURL("kannel:" + strings.Replace(sendsms, "://", "://"+user+":"+password+"@", 1) + "?reply_secret=0123456789abcdef")
	}
}

var codePattern = regexp.MustCompile(`\b\d{6}\b`)

// registerCoach registers a coach with the OTP in the first text that texts returns.
func registerCoach(t *testing.T, s *touchlinetest.Service, texts func() []string) *touchlinetest.User {
	t.Helper()
	s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber, "role": "coach"}).Want(t, 202)
	eventually(t, "the OTP is sent", func() bool { return len(texts()) > 0 })
	login := s.Call(t, "POST", "/auth/login", "", map[string]any{
		"mobile_number": coachNumber, "otp": codePattern.FindString(texts()[0]), "role": "coach", "device_name": "test phone",
	}).Want(t, 200)
	coach := &touchlinetest.User{Service: s, Number: coachNumber, Role: "coach", Access: login.String("access_token")}
	coach.Call(t, "POST", "/auth/complete-profile", map[string]any{
		"name": "Meera Nair", "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey"},
	}).Want(t, 200)
	return coach
}

// awaitSMS waits until the newest SMS of a request has a state and reason.
func awaitSMS(t *testing.T, coach *touchlinetest.User, requestID, state, reason string) {
	t.Helper()
	eventually(t, "the SMS is "+state+" "+reason, func() bool {
		s, r := smsDelivery(getRequest(t, coach, requestID))
		return s == state && r == reason
	})
}

// TestKannel: an OTP and an approval request pass through a real Kannel, and the coach sees its
// receipts. A request to a number that does not exist is failed, and leaves again at once after the
// number was corrected.
func TestKannel(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		kannel := smstest.StartKannel(t)
		s := touchlinetest.New(t, database, sendBy(kannel.URL, kannel.User, kannel.Password))
		kannel.ForwardReplies(s.Config.PublicURL + "/replies/kannel/0123456789abcdef")
		coach := registerCoach(t, s, func() []string {
			return slices.DeleteFunc(kannel.Messages(), func(m string) bool { return !strings.HasPrefix(m, "TLINE "+coachNumber+" ") })
		})

		alive := coach.AddPlayer(t, child(1, guardianNumber)).String("guardian_request_id")
		awaitSMS(t, coach, alive, "delivered", "")
		kannel.Reply(t, guardianNumber, "Stop.")
		awaitBlocked(t, coach, alive, "stopped")

		player := coach.AddPlayer(t, child(2, smstest.UnroutablePrefix+"00001"))
		dead := player.String("guardian_request_id")
		awaitSMS(t, coach, dead, "failed", "refused")
		if got := smsDetail(getRequest(t, coach, dead)); !strings.Contains(got, "Check the number") {
			t.Errorf("detail = %q, want it to say what to do", got)
		}
		corrected := coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{
			"player_id": player.String("player_id"), "guardian": map[string]any{"mobile_number": otherNumber},
		}).Want(t, 201).String("request_id")
		awaitSMS(t, coach, corrected, "delivered", "")
		if n := countNotifications(t, coach, "delivery_failed"); n != 1 {
			t.Errorf("%d notifications of the failure, want 1", n)
		}
	})
}

// awaitBlocked waits until the list of pending approvals says why a request is blocked.
func awaitBlocked(t *testing.T, coach *touchlinetest.User, requestID string, want any) {
	t.Helper()
	eventually(t, fmt.Sprintf("the request is blocked by %v", want), func() bool {
		for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
			if item["request_id"] == requestID {
				return item["blocked_by"] == want
			}
		}
		return false
	})
}

// sendsms accepts messages as Kannel does and records them with the addresses of their
// receipts.
type sendsms struct {
	mu       sync.Mutex
	texts    []string
	receipts map[string]string // of the newest message, by number
}

func (k *sendsms) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.texts = append(k.texts, string(text))
	address, _, _ := strings.Cut(r.Header.Get("X-Kannel-DLR-Url"), "?")
	k.receipts[r.Header.Get("X-Kannel-To")] = address
	w.WriteHeader(http.StatusAccepted)
}

func (k *sendsms) sent() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.texts)
}

// receiptPath returns the path for receipts of the newest message to a number.
func (k *sendsms) receiptPath(t *testing.T, s *touchlinetest.Service, number string) string {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	path, ok := strings.CutPrefix(k.receipts[number], s.Config.PublicURL)
	if !ok || !strings.HasPrefix(path, "/receipts/") {
		t.Fatalf("address of receipts: got %q, want it below %s/receipts/", k.receipts[number], s.Config.PublicURL)
	}
	return path
}

// TestReceipts: a forged receipt is 401 and changes nothing. A temporary failure shows its
// reason; a permanent one notifies the coach once, and the request may be sent again at once.
func TestReceipts(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		kannel := &sendsms{receipts: map[string]string{}}
		gateway := httptest.NewServer(kannel)
		t.Cleanup(gateway.Close)
		s := touchlinetest.New(t, database, sendBy(gateway.URL+"/cgi-bin/sendsms", "u", "p"),
			func(c *config.Config) { c.RequestsPerAddressMinute = 60 })
		coach := registerCoach(t, s, kannel.sent)
		player := coach.AddPlayer(t, child(1, guardianNumber))
		id := player.String("guardian_request_id")
		awaitSMS(t, coach, id, "sent", "")
		otpPath, path := kannel.receiptPath(t, s, coachNumber), kannel.receiptPath(t, s, guardianNumber)
		receipt := func(path, kind, answer string, want int, code ...string) {
			t.Helper()
			query := url.Values{"type": {kind}, "answer": {answer}}
			s.Call(t, "GET", path+"?"+query.Encode(), "", nil).Want(t, want, code...)
		}

		messageID, secret, _ := strings.Cut(strings.TrimPrefix(path, "/receipts/"), "/")
		otpID, otpSecret, _ := strings.Cut(strings.TrimPrefix(otpPath, "/receipts/"), "/")
		for _, forged := range []string{
			"/receipts/" + messageID + "/" + otpSecret, "/receipts/" + otpID + "/" + secret, "/receipts/" + messageID + "/x",
			path + "A", path[:len(path)-1], "/receipts/" + strings.ToUpper(messageID) + "/" + secret, "/receipts/" + messageID + "/%20",
			"/receipts/" + strings.Replace(messageID, ".1.", ".2.", 1) + "/" + secret,
		} {
			receipt(forged, "2", "stat:UNDELIV", 401, "token_invalid")
		}
		for range 100 { // no limit counts receipts
			receipt(path, "8", "ACK/", 204)
		}
		receipt(path, "", "", 204)
		awaitSMS(t, coach, id, "sent", "")

		for range 2 {
			receipt(path, "2", "stat:EXPIRED err:000", 204)
			awaitSMS(t, coach, id, "failed", "unreachable")
		}
		if got := smsDetail(getRequest(t, coach, id)); !strings.Contains(got, "switch it on") {
			t.Errorf("detail = %q, want it to say what to do", got)
		}
		send := map[string]any{"player_id": player.String("player_id")}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 409, "request_pending")
		if n := countNotifications(t, coach, "delivery_failed"); n != 0 {
			t.Errorf("%d notifications of a temporary failure, want 0", n)
		}
		for range 2 {
			receipt(path, "2", "stat:UNDELIV err:001", 204)
		}
		awaitSMS(t, coach, id, "failed", "refused")
		if n := countNotifications(t, coach, "delivery_failed"); n != 1 {
			t.Errorf("%d notifications of the failure, want 1", n)
		}
		s.Clock.Advance(time.Minute) // the limit per address counts the calls of this test
		if resent := coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 200); resent.String("request_id") != id {
			t.Error("the resend created another request")
		}
		awaitSMS(t, coach, id, "sent", "")
		receipt(path, "1", "stat:DELIVRD", 204) // late, of the first message
		receipt(kannel.receiptPath(t, s, guardianNumber), "1", "stat:DELIVRD", 204)
		receipt(otpPath, "1", "", 204)
		awaitSMS(t, coach, id, "delivered", "")
		if strings.Contains(s.Log.String(), secret) {
			t.Error("the log contains the secret of a receipt")
		}
	})
}

// A service whose provider reports no receipts has no address for them.
func TestNoReceipts(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "GET", "/receipts/0198f2c4-7b00-7e21-a1c4-5d2f9e8b6a10.1.kannel/x?type=1", "", nil).Want(t, 404, "not_found")
	})
}
