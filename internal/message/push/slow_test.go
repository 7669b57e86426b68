package push_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/push"
	"github.com/touchline/touchline/internal/message/push/pushtest"
	"github.com/touchline/touchline/internal/platform/webhook"
)

// TestSlowService: people choose the URLs of push services. A subscription whose service takes
// long gets no further attempt for a time that doubles; others are not delayed.
func TestSlowService(t *testing.T) {
	t.Parallel()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	service := pushtest.New(t, push.PublicKey(key))
	store := &subscriptions{byID: map[string]message.PushSubscription{}}
	for _, id := range []string{"device", "other"} {
		store.byID[id] = message.PushSubscription{ID: id, Endpoint: service.Endpoint(), P256DH: service.Browser.P256DH(), Auth: service.Browser.Auth()}
	}
	client := &timedClient{Client: webhook.NewClient(loopback), at: now}
	sender := push.New(push.Config{
		Store: store, Client: client, Key: key, Contact: "https://touchline.example",
		Now: func() time.Time { return now }, Clock: func() time.Time { return client.at },
	})
	send := func(to string) error {
		m := newMessage()
		m.To = to
		return sender.Send(t.Context(), m)
	}
	wantSent := func(what, to string) {
		t.Helper()
		if err := send(to); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	wantWait := func(wait time.Duration) {
		t.Helper()
		calls := service.Calls()
		wantError(t, "after a slow attempt", send("device"), message.SendError{Wait: wait, Reason: "the push service was slow"})
		if service.Calls() != calls {
			t.Fatal("a slow push service was called again too early")
		}
	}
	slow := func(wait time.Duration) {
		t.Helper()
		client.takes = 3 * time.Second
		wantSent("a slow attempt", "device") // also a slow service takes the message
		client.takes = 0
		wantWait(wait)
		wantSent("another subscription", "other")
		client.at = client.at.Add(wait - time.Second)
		wantWait(time.Second)
		client.at = client.at.Add(time.Second)
	}
	slow(5 * time.Minute)
	slow(10 * time.Minute)
	slow(20 * time.Minute)
	wantSent("a fast attempt ends the waits", "device")
	wantSent("at once", "device")
	slow(5 * time.Minute)
}

// timedClient sends requests that take a time by its clock.
type timedClient struct {
	push.Client
	at    time.Time
	takes time.Duration
}

// Do implements push.Client.
func (c *timedClient) Do(r *http.Request) (*http.Response, error) {
	c.at = c.at.Add(c.takes)
	return c.Client.Do(r)
}
