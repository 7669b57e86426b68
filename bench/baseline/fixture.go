// Package baseline compares operations of the service with handlers on the same engine and the same database: floor, a handler
// with a single statement, and same statements, a handler with the operation's SQL statements and nothing else.
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

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/server"
)

// Fixture is the service in this process, on a separate database, and a second set of connections to that database for the
// baseline handlers.
type Fixture struct {
	app      *server.App
	bare     *bare
	closers  []func()
	accounts int // test numbers in use
	students int // students created
}

// Open starts the service on an empty database. Call Close to stop it.
func Open(ctx context.Context, engine string) (*Fixture, error) {
	f := &Fixture{}
	if err := f.open(ctx, engine); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *Fixture) open(ctx context.Context, engine string) error {
	database, err := program.NewDatabase(engine)
	if err != nil {
		return err
	}
	f.closers = append(f.closers, database.Close)
	cfg, err := config.Load(nil, program.Environment(database, "log"))
	if err != nil {
		return err
	}
	f.app, err = server.Open(ctx, cfg, server.Edges{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Terminal: io.Discard})
	if err != nil {
		return err
	}
	f.closers = append(f.closers, func() { f.app.Close() })
	if f.bare, err = openBare(database.URL); err != nil {
		return err
	}
	f.closers = append(f.closers, f.bare.close)
	return nil
}

// Close stops the service and removes the database.
func (f *Fixture) Close() {
	for i := len(f.closers) - 1; i >= 0; i-- {
		f.closers[i]()
	}
}

// account is a signed-in account.
type account struct{ id, session, number, access, refresh string }

// signIn signs the next unused test number in.
func (f *Fixture) signIn(role string) (account, error) {
	number := program.TestNumber(f.accounts)
	f.accounts++
	if _, err := f.post("/auth/request-otp", nil, map[string]any{"mobile_number": number, "role": role}); err != nil {
		return account{}, err
	}
	body, err := f.post("/auth/login", nil, map[string]any{"mobile_number": number, "role": role, "otp": program.TestOTP})
	if err != nil {
		return account{}, err
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
	return account{in.Account.ID, in.SessionID, number, in.AccessToken, in.RefreshToken}, err
}

// coach signs a coach in and completes the profile.
func (f *Fixture) coach() (account, error) {
	a, err := f.signIn("coach")
	if err != nil {
		return a, err
	}
	_, err = f.post("/auth/complete-profile", bench.BearerHeader(a.access), map[string]any{
		"name": "Meera Nair", "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey", "football"},
	})
	return a, err
}

// serve calls the service without a connection; a status outside 2xx is an error.
func (f *Fixture) serve(r *http.Request) error {
	r.RemoteAddr = "127.0.0.1:1234"
	w := httptest.NewRecorder()
	f.app.Handler().ServeHTTP(w, r)
	if w.Code > 299 {
		return fmt.Errorf("%s %s: status %d: %s", r.Method, r.URL.Path, w.Code, w.Body)
	}
	return nil
}

// post calls the service without a connection and returns the response, to prepare data.
func (f *Fixture) post(path string, header http.Header, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(text))
	if header == nil {
		header = bench.JSONHeader
	}
	r.Header = header
	w := httptest.NewRecorder()
	f.app.Handler().ServeHTTP(w, r)
	if w.Code > 299 {
		return nil, fmt.Errorf("POST %s: status %d: %s", path, w.Code, w.Body)
	}
	return w.Body.Bytes(), nil
}
