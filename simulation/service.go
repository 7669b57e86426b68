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
		if got, ok := s.send(public, method, path, token, body, headers...); ok && !(got.Status == http.StatusServiceUnavailable && s.faults.full) {
			if got.Status >= 500 {
				s.run.fail("no input and no fault is answered with a 5xx", "%s %s %v: %d %s\n%s", method, path, body, got.Status, got.Body, s.log)
			}
			return got, retried
		}
		s.faults.freeDisk()
		retried = true
		s.run.clock.advance(6 * time.Second)
	}
	s.run.fail("a repeated request is answered", "%s %s has no answer after %d tries\n%s", method, path, maxTries, s.log)
	return nil, false
}

// tablesWith returns the columns of SQLite's tables that have a text.
func (s *service) tablesWith(value string) (found []string) {
	db, err := sql.Open(driverName, "file:"+s.databaseFile()+"?mode=ro")
	orPanic(err)
	defer db.Close()
	columns, err := db.Query("SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2")
	orPanic(err)
	defer columns.Close()
	for columns.Next() {
		var table, column string
		var n int
		orPanic(columns.Scan(&table, &column))
		orPanic(db.QueryRow(fmt.Sprintf(`SELECT count(*) FROM "%s" WHERE instr("%s", $1) > 0`, table, column), value).Scan(&n))
		if n > 0 {
			found = append(found, fmt.Sprintf("%s.%s (%d)", table, column, n))
		}
	}
	orPanic(columns.Err())
	return found
}
