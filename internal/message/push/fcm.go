package push

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// fcmTimeout bounds one request to FCM, and one for an access token.
const fcmTimeout = 10 * time.Second

// FCMConfig is the configuration for NewFCM. All fields but KeyID are required.
type FCMConfig struct {
	// API is the address of FCM HTTP v1, without the version.
	API string
	// ProjectID is the Firebase project of the apps.
	ProjectID string
	// Email, KeyID, PrivateKey and TokenURL belong to a service account. PrivateKey is in
	// PEM.
	Email, KeyID, PrivateKey, TokenURL string
	Now                                func() time.Time
}

// FCM sends messages to apps by FCM HTTP v1. It is safe for concurrent use.
type FCM struct {
	url    string
	http   *http.Client
	tokens *accessTokens
	now    func() time.Time
}

// NewFCM returns an FCM.
func NewFCM(c FCMConfig) (*FCM, error) {
	u, err := url.Parse(c.API)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("the address of FCM must be http or https with a host")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.MaxResponseHeaderBytes = maxResponse
	client := &http.Client{
		Transport: transport, Timeout: fcmTimeout,
		// The access token goes to the configured host only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &FCM{
		url: u.JoinPath("v1", "projects", c.ProjectID, "messages:send").String(), http: client, now: c.Now, tokens: newAccessTokens(c, client),
	}, nil
}

// fcmMessage is the body of messages:send. The names are from the REST reference of FCM.
type fcmMessage struct {
	Message struct {
		Token        string            `json:"token"`
		Notification fcmNotification   `json:"notification"`
		Data         map[string]string `json:"data"`
		Android      fcmAndroid        `json:"android"`
		APNS         fcmAPNS           `json:"apns"`
	} `json:"message"`
}

type fcmNotification struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

type fcmAndroid struct {
	Priority     string `json:"priority"`
	TTL          string `json:"ttl"`
	Notification struct {
		Tag string `json:"tag"`
	} `json:"notification"`
}

type fcmAPNS struct {
	Headers map[string]string `json:"headers"`
}

// newFCMMessage returns a message that the device shows once, whatever the number of attempts:
// a second notification with the same tag, or the same apns-collapse-id, replaces the first.
func newFCMMessage(m message.Message, token string, text message.PushText, now time.Time) fcmMessage {
	var out fcmMessage
	out.Message.Token = token
	out.Message.Notification = fcmNotification{text.Title, text.Body}
	out.Message.Data = map[string]string{"type": string(m.Copy.Type), "lang": text.Language, "url": text.URL, "tag": text.Tag}
	priority, apnsPriority := "NORMAL", "5"
	if message.PushUrgent(m.Copy.Type) {
		priority, apnsPriority = "HIGH", "10"
	}
	out.Message.Android.Priority = priority
	out.Message.Android.TTL = fmt.Sprintf("%ds", int(message.MessageLifetime.Seconds()))
	out.Message.Android.Notification.Tag = text.Tag
	out.Message.APNS.Headers = map[string]string{
		"apns-priority": apnsPriority, "apns-collapse-id": text.Tag,
		"apns-expiration": strconv.FormatInt(now.Add(message.MessageLifetime).Unix(), 10),
	}
	return out
}

// Check asks Google for an access token of the service account. It sends no message.
func (f *FCM) Check(ctx context.Context) error {
	_, err := f.tokens.get(ctx)
	return err
}

// send makes one attempt to send a text to the app with a registration token.
func (f *FCM) send(ctx context.Context, m message.Message, token string, text message.PushText) error {
	access, err := f.tokens.get(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(newFCMMessage(m, token, text, f.now()))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+access)
	resp, err := f.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &message.SendError{Reason: "FCM did not respond"}
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if resp.StatusCode == http.StatusUnauthorized {
		f.tokens.forget(access)
	}
	return fcmResult(resp, raw, f.now())
}
