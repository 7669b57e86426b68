package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server"
)

const (
	publicURL   = "https://club.example"
	replySecret = "0123456789abcdef0123456789abcdef"
	callSecret  = "secret-of-calls"
	chatSecret  = "secret-of-chats"
	// The price of an SMS and the budget of a day, in paise.
	pricePaise, budgetPaise = 10, 600
)

// service is the service under test. Its processes can end; then the next call starts another one on the same files.
type service struct {
	run      *Run
	dir      string
	config   *config.Config
	replicas []*replica // one, or two for some steps
	log      *bytes.Buffer
	logger   *slog.Logger
	two      time.Time // when there were two processes
	faults   faults
}

func newService(r *Run) *service {
	dir, err := os.MkdirTemp(memoryDir(), "touchline-simulation-")
	orPanic(err)
	s := &service{run: r, dir: dir, log: new(bytes.Buffer)}
	s.logger = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	database.SQLiteDriver = driverName
	cfg, err := config.Load(nil, []string{
		"TOUCHLINE_SMS=kannel:http://user:password@" + smsHost + "/send?reply_secret=" + replySecret,
		"TOUCHLINE_VOICE=http:http://touchline:" + callSecret + "@" + voiceHost + "/call", "TOUCHLINE_MAIL=" + r.network.mail.url + "?from=club@club.example",
		"TOUCHLINE_GUARDIAN_PROOF=offered", "TOUCHLINE_IDENTITY_PROVIDERS=" + r.network.identity.file(dir),
		"TOUCHLINE_WHATSAPP=chat", "TOUCHLINE_WHATSAPP_ACCOUNT=phone_id=1,token=token,app_secret=" + chatSecret + ",verify_token=verify",
		"TOUCHLINE_PUBLIC_URL=" + publicURL, "TOUCHLINE_DATA_DIR=" + dir, "TOUCHLINE_LOG=public",
		"TOUCHLINE_OTP_SENDS_PER_ADDRESS_HOUR=0", "TOUCHLINE_REQUESTS_PER_ADDRESS_MINUTE=0", "TOUCHLINE_MAX_IN_FLIGHT=100000",
		"TOUCHLINE_SMS_PRICES=IN=0.10", "TOUCHLINE_SMS_BUDGET=6,calls=100", "TOUCHLINE_WEBHOOK_NETWORKS=127.0.0.1",
		"TOUCHLINE_ERASURES=" + filepath.Join(dir, "erasures"),
	})
	orPanic(err)
	cfg.Endpoints.WhatsApp = "http://" + chatHost + "/v23.0"
	cfg.Endpoints.PushNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	if r.Database != "" {
		cfg.DatabaseURL = config.SecretURL(r.Database)
	}
	s.config = cfg
	return s
}

// memoryDir is in memory if the system has such a folder: a commit takes no time of a disk.
func memoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *service) remove() { _ = errors.Join(s.close(0), os.RemoveAll(s.dir)) }

// connectOthers makes the token of a service that reads the feed, and a webhook.
func (s *service) connectOthers() {
	operators, err := server.OpenOperators(context.Background(), s.config, server.Options{Now: s.now})
	orPanic(err)
	_, token, err := operators.Tokens.Create(context.Background(), actor.Operator{Name: operator.ShellName("simulation")},
		operator.TokenRequest{Name: "other services", Scopes: []operator.Scope{operator.AvailabilityScope, operator.Webhooks}, Days: operator.MaxDays})
	orPanic(errors.Join(err, operators.Close()))
	s.run.club.token = token
	got, _ := s.send(admin, "POST", "/api/admin/webhooks", token, object{"url": s.run.network.loopback.server.URL + "/hook"})
	if got.Status != 201 {
		s.run.fail("a webhook can be made", "%d %s", got.Status, got.Body)
	}
}

// response is the answer to a call.
type response struct {
	Status int
	Header http.Header
	Body   string
	JSON   map[string]any
}

func (r *response) code() string { return text(r.JSON["code"]) }

func text(v any) string {
	s, _ := v.(string)
	return s
}

// asObject returns a value of a JSON object as an object.
func asObject(v any) object {
	o, _ := v.(object)
	return o
}

// items returns a list of objects.
func items(v any) (all []map[string]any) {
	list, _ := v.([]any)
	for _, one := range list {
		all = append(all, asObject(one))
	}
	return all
}

// public and admin are the listeners of a process.
func public(p *replica) http.Handler { return p.public }
func admin(p *replica) http.Handler  { return p.admin }

// send makes one request and returns its answer, or false if the process ended or the answer was lost.
func (s *service) send(listener func(*replica) http.Handler, method, path, token string, body any, headers ...string) (*response, bool) {
	var reader io.Reader = http.NoBody
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case []byte:
		reader = bytes.NewReader(b)
	case url.Values:
		reader, kind = strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
	default:
		content, err := json.Marshal(b)
		orPanic(err)
		reader = bytes.NewReader(content)
	}
	req, err := http.NewRequest(method, publicURL+path, reader)
	orPanic(err)
	req.RemoteAddr = "192.0.2.7:5000"
	req.RequestURI = path
	req.Header.Set("X-Forwarded-Proto", "https")
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	listener(s.one()).ServeHTTP(recorder, req)
	if s.restartIfEnded() || s.faults.loseAnswer() {
		return nil, false
	}
	got := &response{Status: recorder.Code, Header: recorder.Result().Header, Body: recorder.Body.String()}
	if strings.HasPrefix(got.Body, "{") {
		_ = json.Unmarshal(recorder.Body.Bytes(), &got.JSON) // a page has none
	}
	return got, true
}

// maxTries is how often a client repeats a request without an answer.
const maxTries = 5

// call makes a request until it has an answer, as a good client does: with the same key, after some seconds. retried says that an earlier
// try may have had its effect.
func (s *service) call(method, path, token string, body any, headers ...string) (got *response, retried bool) {
	if method == http.MethodPost {
		headers = append(headers, fmt.Sprintf("Idempotency-Key: %s", s.run.clock.newID(0)))
	}
	for range maxTries {
		got, ok := s.send(public, method, path, token, body, headers...)
		if ok && !(got.Status == http.StatusServiceUnavailable && s.faults.full) && got.code() != "request_in_progress" {
			if got.Status >= 500 {
				s.run.fail("no input and no fault is answered with a 5xx", "%s %s %v: %d %s\n%s", method, path, body, got.Status, got.Body, s.log)
			}
			return got, retried
		}
		if ok && got.code() == "request_in_progress" && s.clocksDiffered() { // the clock of the other process was ahead
			s.run.clock.advance(2 * maxSkew)
		}
		s.faults.freeDisk()
		retried = true
		s.run.clock.advance(6 * time.Second)
	}
	s.run.fail("a repeated request is answered", "%s %s has no answer after %d tries\n%s", method, path, maxTries, s.log)
	return nil, false
}

// tablesWith returns the tables of SQLite that have one of the texts, by text. It reads all rows once.
func (s *service) tablesWith(texts []string) map[string][]string {
	found := map[string][]string{}
	db, err := sql.Open(driverName, "file:"+s.databaseFile()+"?mode=ro")
	orPanic(err)
	defer db.Close()
	tables, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
	orPanic(err)
	defer tables.Close()
	for tables.Next() {
		var table string
		orPanic(tables.Scan(&table))
		rows, err := db.Query(fmt.Sprintf(`SELECT * FROM "%s"`, table))
		orPanic(err)
		columns, err := rows.Columns()
		orPanic(err)
		values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			orPanic(rows.Scan(into...))
			for i, value := range values {
				for _, text := range texts {
					if bytes.Contains(value, []byte(text)) {
						found[text] = append(found[text], table+"."+columns[i])
					}
				}
			}
		}
		orPanic(errors.Join(rows.Err(), rows.Close()))
	}
	orPanic(tables.Err())
	return found
}
