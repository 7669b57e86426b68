package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message/push/pushtest"
)

// loopback is the push services of all phones, and the endpoint of a webhook.
type loopback struct {
	network *network
	server  *httptest.Server
	browser *pushtest.Browser
	pushes  []pushed
	hook    map[string]map[int]bool // the sequences that arrived, by player
	failing bool                    // all of them
}

// pushed is a message on a phone.
type pushed struct {
	number, role, title string
	at                  time.Time
}

func newLoopback(n *network) *loopback {
	browser, err := pushtest.BrowserWith("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94", "BTBZMqHH6r4Tts7J_aSIgg") // the example of RFC 8291
	orPanic(err)
	l := &loopback{network: n, browser: browser, hook: map[string]map[int]bool{}}
	l.server = httptest.NewServer(l)
	return l
}

// subscription is the body with which a phone subscribes.
func (l *loopback) subscription(number, role string) map[string]any {
	return map[string]any{
		"endpoint": l.server.URL + "/push/" + number + "/" + role, "expirationTime": nil, "show_names": true,
		"keys": map[string]any{"p256dh": l.browser.P256DH(), "auth": l.browser.Auth()},
	}
}

func (l *loopback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a body that is cut off is not JSON
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	switch parts := strings.Split(r.URL.Path, "/"); {
	case killer.ended(), l.failing:
		w.WriteHeader(http.StatusServiceUnavailable)
	case parts[1] == "push":
		plain, err := l.browser.Decrypt(body)
		var text struct{ Title, Body string }
		if err != nil || json.Unmarshal(plain, &text) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		l.pushes = append(l.pushes, pushed{parts[2], parts[3], text.Title + ": " + text.Body, l.network.run.clock.now})
		w.WriteHeader(http.StatusCreated)
	default:
		var event struct {
			Data struct {
				Player   string `json:"player_id"`
				Sequence int    `json:"sequence"`
			} `json:"data"`
		}
		_ = json.Unmarshal(body, &event) // a test message has no player
		if l.hook[event.Data.Player] == nil {
			l.hook[event.Data.Player] = map[int]bool{}
		}
		l.hook[event.Data.Player][event.Data.Sequence] = true
	}
}
