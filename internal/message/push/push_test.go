package push_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/push"
	"github.com/touchline/touchline/internal/message/push/pushtest"
	"github.com/touchline/touchline/internal/platform/webhook"
)

var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// subscriptions is a push.Store in memory.
type subscriptions struct {
	mu   sync.Mutex
	byID map[string]message.PushSubscription
}

func (s *subscriptions) PushSubscription(_ context.Context, id string) (message.PushSubscription, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.byID[id]
	return found, ok, nil
}

func (s *subscriptions) PushSubscriptionGone(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
	return nil
}

// newSender returns a sender and a push service whose browser has the subscription "device".
func newSender(t *testing.T, networks webhook.Networks) (*push.Sender, *pushtest.Service, *subscriptions) {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	service := pushtest.New(t, push.PublicKey(key))
	store := &subscriptions{byID: map[string]message.PushSubscription{"device": {
		ID: "device", Endpoint: service.Endpoint(), P256DH: service.Browser.P256DH(), Auth: service.Browser.Auth(),
	}}}
	return push.New(push.Config{
		Store: store, Client: webhook.NewClient(networks), Key: key, Contact: "https://touchline.example", Now: func() time.Time { return now },
	}), service, store
}

var loopback = webhook.Networks{netip.MustParsePrefix("127.0.0.0/8")}

func newMessage() message.Message {
	return message.Message{
		ID: "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", To: "device", Kind: message.NotificationCopy, Brand: "Touchline", Language: "hi", Link: "https://touchline.example/me/guardian",
		Copy: message.Copy{Type: message.GuardianRequest, Title: "आपका जवाब चाहिए", Text: "कोच Meera Nair ने Asha Rao को जोड़ा।", Readable: true},
	}
}

// TestSend: the browser decrypts the message, and the push service accepts the signature. The
// text names no person unless the person allows it.
func TestSend(t *testing.T) {
	t.Parallel()
	sender, service, store := newSender(t, loopback)
	for i, showNames := range []bool{false, true} {
		s := store.byID["device"]
		s.ShowNames = showNames
		store.byID["device"] = s
		if err := sender.Send(t.Context(), newMessage()); err != nil {
			t.Fatal(err)
		}
		got := service.Wait(t, i)
		var text message.PushText
		if err := json.Unmarshal(got.Text, &text); err != nil {
			t.Fatal(err)
		}
		want := message.PushText{Title: "आपका जवाब चाहिए", Body: "पढ़ने के लिए Touchline खोलें।", Language: "hi", URL: "https://touchline.example/me/guardian", Tag: "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"}
		if showNames {
			want.Body = "कोच Meera Nair ने Asha Rao को जोड़ा।"
		}
		if text != want {
			t.Errorf("got %+v, want %+v", text, want)
		}
		if got.Header.Get("TTL") != "86400" || got.Header.Get("Urgency") != "high" || got.Header.Get("Topic") != "0198f2c46a107c3e9b524f0e8d1a7b21" {
			t.Errorf("headers %v", got.Header)
		}
	}
	if sender.Segments(newMessage()) != 0 || sender.Suppressed("device") {
		t.Error("a push message counts towards a limit, or is suppressed")
	}
	long := newMessage()
	long.Copy.Title = strings.Repeat("a", 4000)
	wantError(t, "too long", sender.Send(t.Context(), long), message.SendError{Permanent: true, Reason: "the text is too long"})
}

// TestSizes: every message has one size, which Mozilla's bridge to Firefox for Android takes. A push service that takes less gets the message
// once more, with a shorter text.
func TestSizes(t *testing.T) {
	t.Parallel()
	sender, service, store := newSender(t, loopback)
	s := store.byID["device"]
	s.ShowNames = true
	store.byID["device"] = s
	service.Refuse(pushtest.MozillaBridge)
	texts := []string{"", "x", "कोच Meera Nair ने Asha Rao को जोड़ा।", strings.Repeat("क", 400), strings.Repeat("🏑", 400), strings.Repeat("<", 400), strings.Repeat("\x01", 400), strings.Repeat("word ", 200)}
	read := func(i int) message.PushText {
		var text message.PushText
		if err := json.Unmarshal(service.Wait(t, i).Text, &text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	for i, body := range texts {
		m := newMessage()
		m.Copy.Text = body
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatalf("%.20q: %v", body, err)
		}
		if whole := message.PushOf(m, true); read(i) != whole {
			t.Errorf("%.20q: got %+v", body, read(i))
		}
	}
	for i, size := range service.Sizes() {
		if size != 2800 || len(service.Sizes()) != len(texts) {
			t.Errorf("message %d has %d bytes, want 2800", i, size)
		}
	}

	service.Refuse(func(body []byte) bool { return len(body) <= 2000 })
	before := service.Calls()
	for i, body := range texts {
		m := newMessage()
		m.Copy.Text = body
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatalf("%.20q: %v", body, err)
		}
		got, whole := read(len(texts)+i), message.PushOf(m, true)
		start, cut := strings.CutSuffix(got.Body, "…")
		if got.Body != whole.Body && (!cut || !strings.HasPrefix(whole.Body, start) || len(start) < 150) || got.URL != whole.URL || got.Title != whole.Title || got.Tag != whole.Tag {
			t.Errorf("%.20q: the second attempt has %+v", body, got)
		}
	}
	for i, size := range service.Sizes()[before:] {
		if want := []int{2800, 1400}[i%2]; size != want {
			t.Errorf("attempt %d has %d bytes, want %d", i, size, want)
		}
	}

	service.Refuse(func([]byte) bool { return false })
	before = service.Calls()
	wantError(t, "always too large", sender.Send(t.Context(), newMessage()), message.SendError{Permanent: true, Reason: "the push service responded 413"})
	if n := service.Calls() - before; n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
}

// TestResults checks what each answer of a push service means.
func TestResults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		header http.Header
		want   message.SendError
	}{
		{404, nil, message.SendError{Gone: true}},
		{410, nil, message.SendError{Gone: true}},
		{429, http.Header{"Retry-After": {"30"}}, message.SendError{Wait: 30 * time.Second}},
		{503, http.Header{"Retry-After": {"Mon, 02 Mar 2026 09:01:00 GMT"}}, message.SendError{Wait: time.Minute}},
		{500, nil, message.SendError{}},
		{307, http.Header{"Location": {"http://127.0.0.1:1/"}}, message.SendError{}},
		{400, nil, message.SendError{Permanent: true}},
		{401, http.Header{"Date": {"Mon, 02 Mar 2026 09:30:00 GMT"}}, message.SendError{Gone: true}},
		{403, http.Header{"Date": {"Mon, 02 Mar 2026 08:30:00 GMT"}}, message.SendError{Gone: true}},
		// A wrong clock on this machine ends no subscription.
		{401, http.Header{"Date": {"Mon, 02 Mar 2026 22:00:00 GMT"}}, message.SendError{Reason: ": check the clock of this machine"}},
		{403, http.Header{"Date": {"Sun, 01 Mar 2026 09:00:00 GMT"}}, message.SendError{Reason: ": check the clock of this machine"}},
		{403, http.Header{"Date": {"now"}}, message.SendError{Reason: ": check the clock of this machine"}},
		{413, nil, message.SendError{Permanent: true}},
	} {
		sender, service, store := newSender(t, loopback)
		service.Answer(tt.status, tt.header)
		tt.want.Reason = "the push service responded " + strconv.Itoa(tt.status) + tt.want.Reason
		wantError(t, http.StatusText(tt.status), sender.Send(t.Context(), newMessage()), tt.want)
		if _, kept := store.byID["device"]; kept == tt.want.Gone {
			t.Errorf("%d: the subscription is kept: %t", tt.status, kept)
		}
	}
	sender, service, _ := newSender(t, loopback)
	service.Answer(400, nil)
	service.Explain(`{"reason":"VapidPkHashMismatch"}`)
	wantError(t, "Apple, another key", sender.Send(t.Context(), newMessage()), message.SendError{Gone: true, Reason: "the push service responded 400"})

	sender, service, store := newSender(t, nil)
	wantError(t, "private address", sender.Send(t.Context(), newMessage()), message.SendError{Reason: "the push service did not respond"})
	store.byID["device"] = message.PushSubscription{ID: "device", Endpoint: strings.Replace(service.Endpoint(), "http:", "https:", 1), P256DH: service.Browser.P256DH(), Auth: service.Browser.Auth()}
	wantError(t, "private address by https", sender.Send(t.Context(), newMessage()), message.SendError{Reason: "the push service did not respond"})
	if service.Calls() != 0 {
		t.Error("a private address was reached")
	}
	delete(store.byID, "device")
	wantError(t, "ended session", sender.Send(t.Context(), newMessage()), message.SendError{Gone: true, Reason: "the session or its subscription has ended"})
}

func wantError(t *testing.T, name string, err error, want message.SendError) {
	t.Helper()
	got, ok := errors.AsType[*message.SendError](err)
	if !ok || *got != want {
		t.Errorf("%s: got %+v, want %+v", name, err, want)
	}
}

// TestBrowser: the browser of the tests decrypts the example of RFC 8291, section 5.
func TestBrowser(t *testing.T) {
	t.Parallel()
	browser, err := pushtest.BrowserWith("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94", "BTBZMqHH6r4Tts7J_aSIgg")
	if err != nil {
		t.Fatal(err)
	}
	body, err := base64.RawURLEncoding.DecodeString("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	if err != nil {
		t.Fatal(err)
	}
	text, err := browser.Decrypt(body)
	if err != nil || string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("got %q, %v", text, err)
	}
	body[len(body)-1] ^= 1
	if _, err := browser.Decrypt(body); err == nil {
		t.Error("a forged message was decrypted")
	}
}
