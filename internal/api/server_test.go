package api_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	accounts "github.com/touchline/touchline/internal/auth/handlers"
	coaches "github.com/touchline/touchline/internal/coach/handlers"
	"github.com/touchline/touchline/internal/message"
	notices "github.com/touchline/touchline/internal/notice/handlers"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/server/service"
	"github.com/touchline/touchline/internal/server/service/public"
)

// fixture is a Server with fake stores in memory, for tests of the checks before and
// after the handlers. Package e2e tests whole requests with real databases.
type fixture struct {
	server    *api.Server
	auth      *auth.Service
	tray      *fakeTray
	hub       *message.Hub
	responses *fakeResponseStore
	log       *bytes.Buffer

	session *auth.Session
	token   string
}

// fakeSecretStore keeps secrets in memory. fakeSessionStore has one session.
type (
	fakeSecretStore  struct{ secrets []auth.Secret }
	fakeSessionStore struct {
		auth.Store
		mu      sync.Mutex
		session *auth.Session
	}
)

func (k *fakeSecretStore) Secrets(context.Context) ([]auth.Secret, error) { return k.secrets, nil }
func (k *fakeSecretStore) DropSecrets(context.Context, time.Time) error   { return nil }
func (k *fakeSecretStore) AddSecret(_ context.Context, s auth.Secret) error {
	k.secrets = append(k.secrets, s)
	return nil
}
func (s *fakeSessionStore) MarkUsed(context.Context, string, int64, time.Time) error { return nil }

func (s *fakeSessionStore) Session(_ context.Context, id string) (*auth.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil || s.session.ID != id {
		return nil, nil
	}
	kept := *s.session
	return &kept, nil
}

func (s *fakeSessionStore) SessionOfToken(ctx context.Context, id string) (*auth.Session, error) {
	return s.Session(ctx, id)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func newFixture(t *testing.T, change ...func(*api.Config)) *fixture {
	t.Helper()
	keys, err := auth.OpenKeys(t.Context(), &fakeSecretStore{}, []byte(strings.Repeat("m", 32)), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a := &fixture{hub: new(message.Hub), responses: &fakeResponseStore{}, tray: &fakeTray{state: message.StreamState{Live: true}}, log: new(bytes.Buffer)}
	a.session = &auth.Session{
		ID: newID(), AccountID: newID(), Role: actor.Guardian, Number: "+919812345678", Generation: 1,
		CreatedAt: time.Now(), EndsAt: time.Now().Add(time.Hour), IdleAt: time.Now().Add(time.Hour),
	}
	a.auth = &auth.Service{
		Store: &fakeSessionStore{session: a.session}, Keys: keys,
		Tokens: auth.NewTokens(keys, "https://touchline.example", 15*time.Minute, time.Now),
		Now:    time.Now, NewID: newID, Rand: rand.Reader,
	}
	if a.token, err = a.auth.Tokens.Access(a.session); err != nil {
		t.Fatal(err)
	}
	c := api.Config{
		Services: public.Services{
			Common: service.Common{Phones: phone.Parser{DefaultRegion: "IN"}},
			HTTP: service.HTTP{
				Streams:     &message.Streams{Hub: a.hub, Store: a.tray, Now: time.Now, NewID: newID},
				Idempotency: idempotency.New(a.responses, keys.Vault.For(vault.ForResponses), time.Now, newID, slog.New(slog.DiscardHandler)),
			},
			Auth: a.auth, Tray: &message.Tray{Store: a.tray, Now: time.Now}, Uploads: new(upload.Limiter),
		},
		Settings: httpx.Settings{
			PublicURL: "https://touchline.example",
			Now:       time.Now, Log: slog.New(slog.NewTextHandler(a.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			// A stream polls each 10 ms and writes a heartbeat each 100 ms.
			NewTicker: func(period time.Duration) (<-chan time.Time, func()) {
				t := time.NewTicker(period / 200)
				return t.C, t.Stop
			},
		},
	}
	c.Features = append(c.Features, accounts.Operations, coaches.Operations, notices.Operations)
	for _, f := range change {
		f(&c)
	}
	a.server = api.New(c)
	return a
}

// send sends one request; headers are "Name: value".
func send(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// problemCode returns the code of a problem document, or "" if the request succeeded.
func problemCode(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code < 400 {
		return ""
	}
	var problem struct{ Code string }
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("got %d %s, want a problem document", w.Code, w.Body)
	}
	return problem.Code
}
