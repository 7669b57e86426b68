package devphone_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const (
	coachNumber    = "+919812300001"
	guardianNumber = "+919812300011"
)

func development(c *config.Config) { c.SMS = "log" }

// messagesOf waits until a phone has n messages and returns them.
func messagesOf(t *testing.T, s *touchlinetest.Service, number string, n int) []map[string]any {
	t.Helper()
	for range 1200 {
		items := s.Call(t, "GET", "/dev/messages?number="+url.QueryEscape(number), "", nil).Want(t, 200).Items()
		if len(items) >= n {
			return items
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("phone %s has fewer than %d messages", number, n)
	return nil
}

// signIn signs in with the code on the phone.
func signIn(t *testing.T, s *touchlinetest.Service, role, number string, messages int) string {
	t.Helper()
	body := map[string]any{"mobile_number": number, "role": role}
	s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 202)
	body["otp"] = messagesOf(t, s, number, messages)[0]["code"]
	return s.Call(t, "POST", "/auth/login", "", body).Want(t, 200).String("access_token")
}

// TestDay is a first day in development: every code and link is on the phones, and a reply does what a
// reply to the gateway does.
func TestDay(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		token := signIn(t, s, "coach", coachNumber, 1)
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, "")).Want(t, 201)
		question := messagesOf(t, s, guardianNumber, 1)[0]
		link, _ := question["links"].([]any)[0].(string)
		if !strings.HasPrefix(link, s.URL+"/a/") || question["code"] != nil {
			t.Errorf("question: got links %v and code %v", question["links"], question["code"])
		}

		b := s.Browser(t)
		b.Open("/sign-in/coach")
		b.Press("Send me a code", "number", coachNumber)
		if page := b.Press("Open the phones").Text(); !strings.Contains(page, "98123 00001") {
			t.Errorf("the page of the code does not lead to the phones: %s", page)
		}
		if page := b.Open("/dev/phones").Text(); !strings.Contains(page, link) || !strings.Contains(page, "Copy the code") {
			t.Errorf("the page has no link or code: %s", page)
		}
		b.Open("/dev/phones?number=" + url.QueryEscape(guardianNumber))
		if page := b.Press("Send by SMS", "text", "STOP").Text(); !strings.Contains(page, "From this phone") {
			t.Errorf("the page does not show the reply: %s", page)
		}
		if got := messagesOf(t, s, guardianNumber, 2)[0]; got["sent_by_phone"] != true || got["text"] != "STOP" {
			t.Errorf("reply: got %v", got)
		}
		guardian := signIn(t, s, "guardian", guardianNumber, 3)
		if stopped := s.Call(t, "GET", "/api/me/preferences", guardian, nil).Want(t, 200).JSON["stopped_coaches"]; len(stopped.([]any)) != 1 {
			t.Errorf("after STOP: got stopped coaches %v", stopped)
		}

		now, err := time.Parse(time.RFC3339, s.Call(t, "POST", "/dev/clock", "", map[string]any{"advance": "48h"}).Want(t, 200).String("now"))
		if ahead := now.Sub(s.Clock.Now()); err != nil || ahead < 47*time.Hour || ahead > 49*time.Hour {
			t.Errorf("clock: %v ahead, %v", ahead, err)
		}
		s.Call(t, "GET", "/api/me", token, nil).Want(t, 401, "token_expired")
		s.Call(t, "POST", "/dev/clock", "", map[string]any{"advance": "-1h"}).Want(t, 422, "validation_failed")
		s.Call(t, "GET", "/dev/messages?number=abc", "", nil).Want(t, 422, "validation_failed")
		s.Call(t, "GET", "/dev/messages", "", nil).Want(t, 422, "validation_failed")
		if strings.Contains(s.Log.String(), strings.TrimPrefix(guardianNumber, "+")) {
			t.Error("the log has the number of a phone")
		}
	}, development)
}

// TestChat: on the guardian's phone two presses say yes, and a reply by WhatsApp reaches the coach.
func TestChat(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		token := signIn(t, s, "coach", coachNumber, 1)
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		player := s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, "")).Want(t, 201).String("player_id")
		question := messagesOf(t, s, guardianNumber, 1)[0]
		if buttons, _ := question["buttons"].([]any); question["channel"] != "chat" || len(buttons) != 3 {
			t.Fatalf("question: got %v", question)
		}
		status := func() string {
			return s.Call(t, "GET", "/api/players/"+player, token, nil).Want(t, 200).String("guardian_status")
		}
		b := s.Browser(t)
		b.Open("/dev/phones")
		b.Press("Yes")
		if got := status(); got != "pending" {
			t.Errorf("after one press: got %s, want pending", got)
		}
		check := messagesOf(t, s, guardianNumber, 3)[0]["buttons"].([]any)[0].(map[string]any)["text"].(string)
		b.Open("/dev/phones?number=" + url.QueryEscape(guardianNumber))
		b.Press(check)
		if got := status(); got != "approved" {
			t.Errorf("after %s: got %s, want approved", check, got)
		}
		b.Press("Send by WhatsApp", "text", "We come at six.")
		replies := s.Call(t, "GET", "/api/messages/replies", token, nil).Want(t, 200).Items()
		if len(replies) != 1 || replies[0]["text"] != "We come at six." {
			t.Errorf("got replies %v", replies)
		}
	}, development, func(c *config.Config) { c.WhatsApp = []string{"log"} })
}

// TestOnlyInDevelopment: where a message can reach a person, or others reach the service, the paths
// answer as unknown paths do.
func TestOnlyInDevelopment(t *testing.T) {
	t.Parallel()
	paths := []string{"GET /dev/phones", "GET /dev/phones/events", "POST /dev/phones", "GET /dev/messages?number=%2B919812300001", "POST /dev/clock", "POST /dev/consents"}
	status := func(t *testing.T, s *touchlinetest.Service, call, host string, headers ...string) int {
		method, path, _ := strings.Cut(call, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	for name, option := range map[string]touchlinetest.Option{
		"a gateway":       func(*config.Config) {},
		"another address": func(c *config.Config) { c.SMS, c.Addr = "log", "192.0.2.1:8080" },
		"WhatsApp":        func(c *config.Config) { c.SMS, c.WhatsApp = "log", []string{config.WhatsAppOTP} },
		"PUBLIC_URL": func(c *config.Config) {
			loaded, err := config.Load(nil, []string{"TOUCHLINE_SMS=log", "TOUCHLINE_PUBLIC_URL=http://127.0.0.1:8080"})
			if err != nil {
				t.Fatal(err)
			}
			loaded.DatabaseURL, loaded.DataDir, loaded.Files, loaded.ShutdownDrain = c.DatabaseURL, c.DataDir, c.Files, 0
			*c = *loaded
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := touchlinetest.New(t, storetest.SQLite(t), option)
			for _, call := range paths {
				if got := status(t, s, call, ""); got != 404 {
					t.Errorf("%s: got %d, want 404", call, got)
				}
			}
		})
	}
	t.Run("another host", func(t *testing.T) {
		t.Parallel()
		s := touchlinetest.New(t, storetest.SQLite(t), development)
		for _, call := range paths {
			if got := status(t, s, call, "rebound.example"); got != 404 {
				t.Errorf("%s of another host: got %d, want 404", call, got)
			}
			if got := status(t, s, call, "", "X-Forwarded-For", "192.0.2.1"); got != 404 {
				t.Errorf("%s through a proxy: got %d, want 404", call, got)
			}
		}
	})
}

// TestLive: an open page hears of a message at once.
func TestLive(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), development)
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/dev/phones/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() {
		for lines.Scan() && lines.Text() != "data: changed" {
		}
		if lines.Text() != "data: changed" {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
	}
	next() // the first event is for what came before the stream
	s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
	next()
	messagesOf(t, s, coachNumber, 1)
}

func TestMemoryIsBounded(t *testing.T) {
	s := &devphone.Phones{Hub: new(notice.Hub), Now: time.Now, Reply: func(context.Context, message.Reply) error { return nil }}
	for i := range 300 {
		for j := range 3 {
			s.Receive(phone.Number(fmt.Sprint("+91", i)), devphone.Message{Text: fmt.Sprint(j)}, false)
		}
	}
	for i := range 200 {
		s.Receive("+91299", devphone.Message{Text: fmt.Sprint(i, " 123456")}, true)
	}
	list := s.List()
	if len(list) != 200 || list[0].Number != "+91299" || len(list[0].Messages) != 100 || list[0].Messages[0].Text != "199 123456" || list[0].Messages[0].Code != "123456" {
		t.Errorf("got %d phones, the first %s with %d messages", len(list), list[0].Number, len(list[0].Messages))
	}
}

func TestParts(t *testing.T) {
	m := devphone.Message{Text: "Answer: http://127.0.0.1:8080/a/x_y-z. Or (https://t.example/b)"}
	want := []devphone.Part{{Text: "Answer: "}, {Text: "http://127.0.0.1:8080/a/x_y-z", Link: true}, {Text: ". Or ("}, {Text: "https://t.example/b", Link: true}, {Text: ")"}}
	if got := m.Parts(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestClockRunsDueWork: background work that a moved clock makes due runs at once. The sweep that deletes old notifications
// would run 10 minutes later.
func TestClockRunsDueWork(t *testing.T) {
	t.Parallel()
	realTickers := func(o *server.Options) { o.NewTicker = nil }
	s := touchlinetest.NewWith(t, storetest.SQLite(t), realTickers, development, func(c *config.Config) { c.RetainNotifications = time.Hour })
	token := signIn(t, s, "coach", coachNumber, 1)
	s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
	player := s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, "")).Want(t, 201).String("player_id")
	s.Call(t, "POST", "/dev/consents", "", map[string]any{"player_id": player, "party": "guardian", "state": "approved"}).Want(t, 200)
	if got := s.Call(t, "GET", "/api/notifications", token, nil).Want(t, 200).Items(); len(got) != 1 {
		t.Fatalf("the coach has %d notifications, want 1", len(got))
	}
	s.Call(t, "POST", "/dev/clock", "", map[string]any{"advance": "2h"}).Want(t, 200)
	token = signIn(t, s, "coach", coachNumber, 2)
	for end := time.Now().Add(time.Minute); len(s.Call(t, "GET", "/api/notifications", token, nil).Want(t, 200).Items()) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the notification is still there a minute later")
		}
	}
}
