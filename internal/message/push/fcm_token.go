package push

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"github.com/touchline/touchline/internal/message"
)

const (
	// fcmScope lets a token send messages.
	fcmScope = "https://www.googleapis.com/auth/firebase.messaging"
	// tokenMargin is how long before its end a token is replaced.
	tokenMargin = time.Minute
	// tokenRetryAfter is how long a failure is returned without a new request, so that the
	// messages of a batch do not wait for one timeout each.
	tokenRetryAfter = 5 * time.Second
)

// accessTokens exchanges JWTs signed by a service account for access tokens (RFC 7523), and
// keeps each until shortly before it expires.
type accessTokens struct {
	config jwt.Config
	http   *http.Client
	now    func() time.Time

	mu     sync.Mutex
	token  string
	ends   time.Time
	failed error
	retry  time.Time // when to ask again after failed
}

func newAccessTokens(c FCMConfig, client *http.Client) *accessTokens {
	return &accessTokens{http: client, now: c.Now, config: jwt.Config{
		Email: c.Email, PrivateKey: []byte(c.PrivateKey), PrivateKeyID: c.KeyID, Scopes: []string{fcmScope}, TokenURL: c.TokenURL,
	}}
}

// get returns an access token.
func (t *accessTokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if now.Before(t.ends) {
		return t.token, nil
	}
	if now.Before(t.retry) {
		return "", t.failed
	}
	token, err := t.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, t.http)).Token()
	if err == nil && token.AccessToken == "" {
		err = errors.New("no token in the response")
	}
	if err != nil {
		// The error has the response, which is not safe to log.
		t.failed, t.retry = &message.SendError{Reason: describeTokenError(err)}, now.Add(tokenRetryAfter)
		return "", t.failed
	}
	seconds, _ := token.Extra("expires_in").(float64)
	t.token, t.ends, t.retry = token.AccessToken, now.Add(time.Duration(seconds)*time.Second-tokenMargin), time.Time{}
	return t.token, nil
}

// forget makes the next call of get ask for another token, because token was refused.
func (t *accessTokens) forget(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.ends = time.Time{}
	}
}

func describeTokenError(err error) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < http.StatusInternalServerError {
		return "Google refused the service account of FCM"
	}
	return "Google gave no access token for FCM"
}
