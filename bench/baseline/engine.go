// Package baseline puts operations of the service beside bare handlers on the same engine and the same database: the floor,
// which makes one statement, and the same statements, a handler that makes those of the operation and nothing else.
package baseline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/storetest"
)

// Engines are those that can be measured.
var Engines = []string{"sqlite", "postgres"}

// Fixture is the service, in this process, on a database of its own, with the bare handlers' connections to the same database.
type Fixture struct {
	app              *server.App
	bare             *bare
	closers          []func()
	people, students int // so many were made
}

// Open starts a service on an empty database: a file for SQLite, a database on a throwaway cluster whose commits wait for the
// disk for PostgreSQL. Close must follow.
func Open(ctx context.Context, engine string) (*Fixture, error) {
	h := &Fixture{}
	dir, url, err := h.database(engine)
	if err == nil {
		err = h.open(ctx, dir, url)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// database makes a folder and an empty database, which Close removes.
func (h *Fixture) database(engine string) (dir, url string, err error) {
	if dir, err = os.MkdirTemp("", "touchline-bench-"); err != nil {
		return "", "", err
	}
	h.closers = append(h.closers, func() { os.RemoveAll(dir) })
	if engine == "sqlite" {
		return dir, "sqlite:" + filepath.Join(dir, "touchline.db"), nil
	}
	cluster, err := storetest.DurableServer()
	if err != nil {
		return "", "", err
	}
	url, drop, err := storetest.Create(cluster)
	if err != nil {
		return "", "", err
	}
	h.closers = append(h.closers, func() { drop() }) //nolint:errcheck // the cluster goes with the process
	return dir, url, nil
}

func (h *Fixture) open(ctx context.Context, dir, url string) error {
	cfg, err := config.Load(nil, environment(dir, url, "log"))
	if err != nil {
		return err
	}
	h.app, err = server.Open(ctx, cfg, server.Edges{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Terminal: io.Discard})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, func() { h.app.Close() })
	if h.bare, err = openBare(url); err != nil {
		return err
	}
	h.closers = append(h.closers, h.bare.close)
	return nil
}

// testNumbers have a code that is known, and get no SMS.
const (
	testNumbers = 100
	testCode    = "424242"
)

func testNumber(i int) string { return fmt.Sprintf("+9199000001%02d", i) }

// environment is the service's configuration: no limit refuses what a measurement does, but all are counted.
func environment(dir, url, sms string) []string {
	var numbers []string
	until := time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	for i := range testNumbers {
		numbers = append(numbers, testNumber(i)+"="+testCode+"@"+until)
	}
	env := []string{
		"DATA_DIR=" + dir, "DATABASE_URL=" + url, "SMS=" + sms, "TEST_NUMBERS=" + strings.Join(numbers, ","),
		"COUNTRIES=*", "OTP_RESEND_AFTER=0s", "SHUTDOWN_DRAIN=0s",
	}
	for _, limit := range []string{
		"OTP_SENDS_PER_HOUR", "OTP_SENDS_PER_DAY", "OTP_SENDS_PER_ADDRESS_HOUR", "OTP_SENDS_TOTAL_HOUR", "REQUESTS_PER_ADDRESS_MINUTE",
	} {
		env = append(env, limit+"=1000000000")
	}
	for i := range env {
		env[i] = "TOUCHLINE_" + env[i]
	}
	return env
}

// Close stops the service and removes what Open made.
func (h *Fixture) Close() {
	for i := len(h.closers) - 1; i >= 0; i-- {
		h.closers[i]()
	}
}

// person is somebody who is signed in.
type person struct{ id, session, number, access, refresh string }

// signIn signs a test number in that nobody has used.
func (h *Fixture) signIn(role string) (person, error) {
	number := testNumber(h.people)
	h.people++
	if _, err := h.post("/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role}); err != nil {
		return person{}, err
	}
	body, err := h.post("/auth/login", "", map[string]any{"mobile_number": number, "role": role, "otp": testCode})
	if err != nil {
		return person{}, err
	}
	var in struct {
		SessionID    string `json:"session_id"`
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		Account      struct {
			ID string `json:"id"`
		} `json:"account"`
	}
	err = json.Unmarshal(body, &in)
	return person{in.Account.ID, in.SessionID, number, in.AccessToken, in.RefreshToken}, err
}

// coach signs a coach in and completes the profile.
func (h *Fixture) coach() (person, error) {
	p, err := h.signIn("coach")
	if err != nil {
		return p, err
	}
	_, err = h.post("/auth/complete-profile", p.access, map[string]any{
		"name": "Meera Nair", "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey", "football"},
	})
	return p, err
}

// post asks the service without a connection, to prepare what is measured.
func (h *Fixture) post(path, token string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.app.Handler().ServeHTTP(w, r)
	if w.Code > 299 {
		return nil, fmt.Errorf("POST %s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.Bytes(), nil
}
