package push_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/push"
	"github.com/touchline/touchline/internal/message/push/pushtest"
)

// newFCMSender returns a sender whose clock is at *clock, and an FCM whose app has the
// subscription "device".
func newFCMSender(t *testing.T, clock *time.Time) (*push.Sender, *pushtest.FCM, *subscriptions) {
	t.Helper()
	fcm := pushtest.NewFCM(t)
	var account struct {
		ProjectID    string `json:"project_id"`
		ClientEmail  string `json:"client_email"`
		PrivateKeyID string `json:"private_key_id"`
		PrivateKey   string `json:"private_key"`
		TokenURI     string `json:"token_uri"`
	}
	if err := json.Unmarshal([]byte(fcm.ServiceAccount()), &account); err != nil {
		t.Fatal(err)
	}
	at := func() time.Time { return *clock }
	client, err := push.NewFCM(push.FCMConfig{
		API: fcm.URL, ProjectID: account.ProjectID, Email: account.ClientEmail, KeyID: account.PrivateKeyID, PrivateKey: account.PrivateKey,
		TokenURL: account.TokenURI, Now: at,
	})
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	store := &subscriptions{byID: map[string]message.PushSubscription{"device": {ID: "device", Token: "registration"}}}
	return push.New(push.Config{Store: store, Key: key, FCM: client, Now: at}), fcm, store
}

// TestFCM: FCM takes the message under one tag, with a text that names no person unless the
// person allows it. One access token serves until it expires or is refused.
func TestFCM(t *testing.T) {
	t.Parallel()
	clock := now
	sender, fcm, store := newFCMSender(t, &clock)
	var want pushtest.AppMessage
	want.Token, want.Notification.Title, want.Notification.Body = "registration", "आपका जवाब चाहिए", "पढ़ने के लिए Touchline खोलें।"
	want.Data = map[string]string{"type": "guardian_request", "lang": "hi", "url": "https://touchline.example/me/guardian", "tag": newMessage().ID}
	want.Android.Priority, want.Android.TTL, want.Android.Notification.Tag = "HIGH", "86400s", newMessage().ID
	want.APNS.Headers = map[string]string{"apns-priority": "10", "apns-collapse-id": newMessage().ID, "apns-expiration": "1772528400"}
	if err := sender.Send(t.Context(), newMessage()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, fcm.Wait(t, 0)); diff != "" {
		t.Errorf("without names (-want +got):\n%s", diff)
	}
	store.byID["device"] = message.PushSubscription{ID: "device", Token: "registration", ShowNames: true}
	low := newMessage()
	low.Copy.Type = message.PendingReminder
	if err := sender.Send(t.Context(), low); err != nil {
		t.Fatal(err)
	}
	if got := fcm.Wait(t, 1); got.Notification.Body != low.Copy.Text || got.Android.Priority != "NORMAL" || got.APNS.Headers["apns-priority"] != "5" {
		t.Errorf("with names: %+v", got)
	}
	if n := fcm.Issued(); n != 1 {
		t.Errorf("%d access tokens for two messages, want 1", n)
	}
	clock = clock.Add(time.Hour)
	if err := sender.Send(t.Context(), newMessage()); err != nil || fcm.Issued() != 2 {
		t.Errorf("after an hour: %v, %d access tokens, want 2", err, fcm.Issued())
	}
	fcm.EndToken()
	wantError(t, "refused token", sender.Send(t.Context(), newMessage()), message.SendError{Reason: "FCM responded 401"})
	if err := sender.Send(t.Context(), newMessage()); err != nil || fcm.Issued() != 3 {
		t.Errorf("after a refused token: %v, %d access tokens, want 3", err, fcm.Issued())
	}

	// A refused account is asked about once in five seconds.
	clock = clock.Add(time.Hour)
	fcm.RefuseAccount(true)
	calls := fcm.Calls()
	for range 3 {
		wantError(t, "refused account", sender.Send(t.Context(), newMessage()), message.SendError{Reason: "Google refused the service account of FCM"})
	}
	if fcm.Issued() != 4 || fcm.Calls() != calls {
		t.Errorf("%d access tokens, want 4; %d messages", fcm.Issued(), fcm.Calls()-calls)
	}
	fcm.RefuseAccount(false)
	clock = clock.Add(5 * time.Second)
	if err := sender.Send(t.Context(), newMessage()); err != nil {
		t.Errorf("after the account was accepted again: %v", err)
	}
	fcm.Close()
	wantError(t, "no answer", sender.Send(t.Context(), newMessage()), message.SendError{Reason: "FCM did not respond"})
}

// TestFCMResults checks what each documented answer of FCM means.
func TestFCMResults(t *testing.T) {
	t.Parallel()
	clock := now
	sender, fcm, store := newFCMSender(t, &clock)
	badToken := `{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT","details":[` +
		`{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},` +
		`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token","description":"Invalid registration token"}]}]}}`
	for _, tt := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   message.SendError
	}{
		{"unregistered", 404, nil, pushtest.FCMError(404, "UNREGISTERED", "NOT_FOUND"), message.SendError{Gone: true, Reason: "FCM responded 404, UNREGISTERED"}},
		{"not found", 404, nil, `{"error":{"code":404,"status":"NOT_FOUND"}}`, message.SendError{Gone: true, Reason: "FCM responded 404"}},
		{"404 of another server", 404, nil, "<!DOCTYPE html>", message.SendError{Reason: "FCM responded 404"}},
		{"no token of an app", 400, nil, badToken, message.SendError{Gone: true, Reason: "FCM responded 400, INVALID_ARGUMENT"}},
		{"invalid argument", 400, nil, pushtest.FCMError(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"), message.SendError{Permanent: true, Reason: "FCM responded 400, INVALID_ARGUMENT"}},
		{"too large", 400, nil, `{"error":{"code":400,"status":"INVALID_ARGUMENT"}}`, message.SendError{Permanent: true, Reason: "FCM responded 400"}},
		{"another project", 403, nil, pushtest.FCMError(403, "SENDER_ID_MISMATCH", "PERMISSION_DENIED"), message.SendError{Permanent: true, Reason: "FCM responded 403, SENDER_ID_MISMATCH"}},
		{"no permission", 403, nil, `{"error":{"code":403,"status":"PERMISSION_DENIED"}}`, message.SendError{Reason: "FCM responded 403"}},
		{"key of Apple", 401, nil, pushtest.FCMError(401, "THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED"), message.SendError{Reason: "FCM responded 401, THIRD_PARTY_AUTH_ERROR"}},
		{"quota", 429, nil, pushtest.FCMError(429, "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"), message.SendError{Wait: time.Minute, Reason: "FCM responded 429, QUOTA_EXCEEDED"}},
		{"quota with a wait", 429, http.Header{"Retry-After": {"30"}}, pushtest.FCMError(429, "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"), message.SendError{Wait: 30 * time.Second, Reason: "FCM responded 429, QUOTA_EXCEEDED"}},
		{"unavailable", 503, http.Header{"Retry-After": {"Mon, 02 Mar 2026 09:02:00 GMT"}}, pushtest.FCMError(503, "UNAVAILABLE", "UNAVAILABLE"), message.SendError{Wait: 2 * time.Minute, Reason: "FCM responded 503, UNAVAILABLE"}},
		{"internal", 500, nil, pushtest.FCMError(500, "INTERNAL", "INTERNAL"), message.SendError{Reason: "FCM responded 500, INTERNAL"}},
		{"gateway", 502, nil, "<!DOCTYPE html>", message.SendError{Reason: "FCM responded 502"}},
		{"garbage", 200, nil, "{}", message.SendError{Reason: "FCM responded 200"}},
		{"unknown code", 418, nil, pushtest.FCMError(418, "Asha Rao", ""), message.SendError{Reason: "FCM responded 418"}},
	} {
		store.byID["device"] = message.PushSubscription{ID: "device", Token: "registration"}
		fcm.Answer(tt.status, tt.header, tt.body)
		wantError(t, tt.name, sender.Send(t.Context(), newMessage()), tt.want)
		if _, kept := store.byID["device"]; kept == tt.want.Gone {
			t.Errorf("%s: the subscription is kept: %t", tt.name, kept)
		}
	}
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	store.byID["device"] = message.PushSubscription{ID: "device", Token: "registration"}
	without := push.New(push.Config{Store: store, Key: key, Now: func() time.Time { return now }})
	wantError(t, "no account", without.Send(t.Context(), newMessage()), message.SendError{Reason: "the service has no account at FCM"})
}
