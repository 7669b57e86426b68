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
	"github.com/touchline/touchline/internal/coaching"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/notifications"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/signin"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// fixture is a Server with fake stores in memory and one session in a database, for tests of the checks before and
// after the handlers. Package e2e tests whole requests with real databases.
type fixture struct {
	server    *api.Server
	sql       *database.DB
	db        *store.DB
	auth      *auth.Service
	hub       *notice.Hub
	responses *fakeResponseStore
	log       *bytes.Buffer

	session *auth.Session
	token   string
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func newFixture(t *testing.T, change ...func(*api.Config)) *fixture {
	t.Helper()
	db, err := database.Open(t.Context(), storetest.SQLite(t), database.Options{Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	keys, err := auth.OpenKeys(t.Context(), auth.NewInstallation(db), func() ([][]byte, error) { return [][]byte{[]byte(strings.Repeat("m", 32))}, nil }, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	stored := store.New(db, store.Options{NewID: newID, Rand: rand.Reader, Vault: keys.Vault})
	a := &fixture{sql: db, db: stored, hub: new(notice.Hub), responses: &fakeResponseStore{}, log: new(bytes.Buffer)}
	a.session = &auth.Session{
		ID: newID(), AccountID: newID(), Role: actor.Guardian, Number: "+919812345678", Generation: 1,
		CreatedAt: time.Now(), EndsAt: time.Now().Add(time.Hour), IdleAt: time.Now().Add(time.Hour),
	}
	a.auth = &auth.Service{
		Store: auth.Store{DB: stored}, Keys: keys,
		Tokens: auth.NewTokens(keys, "https://touchline.example", 15*time.Minute, time.Now),
		Now:    time.Now, NewID: newID, Rand: rand.Reader,
	}
	if a.token, err = a.auth.Tokens.Access(a.session); err != nil {
		t.Fatal(err)
	}
	a.saveSession(t)
	c := api.Config{
		Phones: phone.Parser{DefaultRegion: "IN"}, Auth: a.auth, Uploads: new(upload.Limiter),
		Idempotency: idempotency.New(a.responses, keys.Vault.For(vault.ForResponses), time.Now, newID, slog.New(slog.DiscardHandler)),
		Settings: httpx.Settings{
			PublicURL: "https://touchline.example",
			Now:       time.Now, Log: slog.New(slog.NewTextHandler(a.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			// Streams are read each 10 ms and write a heartbeat each 100 ms.
			NewTicker: func(period time.Duration) (<-chan time.Time, func()) {
				t := time.NewTicker(period / 200)
				return t.C, t.Stop
			},
		},
	}
	for _, f := range change {
		f(&c)
	}
	streams := &notice.Streams{Hub: a.hub, DB: stored, Process: "process"}
	c.Features = append(
		c.Features,
		signin.Service{Auth: c.Auth, Coaches: c.Coaches, Streams: streams}.Operations, coaching.Service{Auth: c.Auth, Coaches: c.Coaches}.Operations,
		notifications.Service{Auth: c.Auth, Tray: &notice.Tray{DB: stored}, Streams: streams}.Operations,
	)
	a.server = api.New(c)
	poll, stop := c.NewTicker(notice.StreamPoll)
	ctx, cancel := context.WithCancel(context.Background())
	var reader sync.WaitGroup
	reader.Go(func() { streams.Run(ctx, poll) })
	t.Cleanup(func() { cancel(); reader.Wait(); stop() })
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

// saveSession saves the session and its account.
func (a *fixture) saveSession(t *testing.T) {
	t.Helper()
	s := a.session
	a.exec(t, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, $2, $3, 0)`, s.AccountID, string(s.Number), string(s.Role))
	a.exec(t, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
		VALUES ($1, $2, $3, $4, '', $5, $6, $7, $7, $8, $9)`,
		s.ID, s.AccountID, string(s.Role), string(s.Number), s.Generation, []byte{}, database.Micros(s.CreatedAt), database.Micros(s.IdleAt), database.Micros(s.EndsAt))
}

func (a *fixture) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := a.sql.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}
