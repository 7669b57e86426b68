package touchline_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	touchline "github.com/touchline/touchline/clients/go"
)

// step is one step of clients/scenario.json.
type step struct {
	Step, As, Role, Action, Type, Advance, Batch, Mark, File string
	MobileNumber                                             string `json:"mobile_number"`
	LoseFirstResponse                                        bool   `json:"lose_first_response"`
	Body                                                     json.RawMessage
	Fields                                                   map[string]string
	Batches                                                  []string
	Calls, Limit                                             int
	Want                                                     struct {
		Players, Refreshes, Items int
		Code, Pointer             string
		Types                     []string
	}
}

type object = map[string]any

// network can lose a response and cut a stream, and counts the calls of each path.
type network struct {
	mu       sync.Mutex
	calls    map[string]int
	loseNext bool
	stream   io.Closer
}

func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls[req.URL.Path]++
	if err == nil && req.URL.Path == "/api/notifications/stream" {
		n.stream = resp.Body
	}
	if err == nil && n.loseNext && req.URL.Path == "/api/players/add" {
		n.loseNext = false
		_ = resp.Body.Close()
		return nil, errors.New("the response was lost")
	}
	return resp, err
}

func (n *network) count(path string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[path]
}

func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.stream.Close()
}

// scenario is the state of a run.
type scenario struct {
	*service
	clients  map[string]*touchline.Client
	networks map[string]*network
	live     func() (touchline.Live, error, bool)
	player   string
	secret   string

	mu       sync.Mutex
	received []touchline.Event

	// closeAtEnd registers what ends with the scenario; a cleanup of a step would end with the step.
	closeAtEnd func(func())
}

// TestScenario runs clients/scenario.json, which every SDK passes.
func TestScenario(t *testing.T) {
	text, err := os.ReadFile("../scenario.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Steps []step }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	s := &scenario{service: startService(t), clients: map[string]*touchline.Client{}, networks: map[string]*network{}, closeAtEnd: t.Cleanup}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps := map[string]func(*testing.T, step){
		"webhook": s.webhook, "sign_in": s.signIn, "complete_profile": s.completeProfile, "add_player": s.addPlayer, "decide": s.decide,
		"want_notification": s.wantNotification, "cut_stream": func(_ *testing.T, st step) { s.networks[st.As].cut() }, "refresh": s.refresh,
		"attendance": s.attendance, "pages": s.pages, "upload": s.upload, "problem": s.problem, "feed": s.feed, "want_webhooks": s.wantWebhooks,
		"sign_out": s.signOut, "follow": func(t *testing.T, st step) { s.follow(ctx, t, st) },
	}
	for _, st := range file.Steps {
		run := steps[st.Step]
		if run == nil {
			t.Fatalf("step %q is not known", st.Step)
		}
		if !t.Run(st.Step+" "+st.As, func(t *testing.T) { run(t, st) }) {
			t.FailNow()
		}
	}
}

// call calls the API as a client and fails the test on an error.
func call[T any](t *testing.T, c *touchline.Client, method, path string, in any) T {
	t.Helper()
	out, err := touchline.Call[T](t.Context(), c, method, path, in)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return out
}

// all returns every item of a list.
func all[T any](t *testing.T, c *touchline.Client, path string, query url.Values) []T {
	t.Helper()
	var items []T
	for item, err := range touchline.All[T](t.Context(), c, path, query) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

func (s *scenario) webhook(t *testing.T, _ step) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // an incomplete body has no valid signature
		s.mu.Lock()
		defer s.mu.Unlock()
		event, err := touchline.VerifyWebhook(r.Header, body, time.Now().Add(s.ahead), s.secret)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.received = append(s.received, event)
		w.WriteHeader(http.StatusNoContent)
	}))
	s.closeAtEnd(receiver.Close)
	var made struct{ Secret string }
	post(t, s.operators+"/api/admin/webhooks", s.Token("webhooks"), object{"url": receiver.URL, "description": "scenario"}, &made)
	s.mu.Lock()
	s.secret = made.Secret
	s.mu.Unlock()
}

func (s *scenario) signIn(t *testing.T, st step) {
	s.networks[st.As] = &network{calls: map[string]int{}}
	c := touchline.New(touchline.Options{BaseURL: s.url, Transport: s.networks[st.As]})
	s.clients[st.As] = c
	if err := c.Session.RequestOTP(t.Context(), st.MobileNumber, st.Role, ""); err != nil {
		t.Fatal(err)
	}
	tokens, err := c.Session.SignIn(t.Context(), st.MobileNumber, st.Role, s.Code(st.MobileNumber))
	if err != nil || tokens.Account.Role != st.Role {
		t.Fatalf("got %+v, %v", tokens.Account, err)
	}
}

func (s *scenario) completeProfile(t *testing.T, st step) {
	call[object](t, s.clients[st.As], "POST", "/auth/complete-profile", st.Body)
}

func (s *scenario) addPlayer(t *testing.T, st step) {
	s.networks[st.As].loseNext = st.LoseFirstResponse
	s.player = call[struct {
		PlayerID string `json:"player_id"`
	}](t, s.clients[st.As], "POST", "/api/players/add", st.Body).PlayerID
	if n := s.networks[st.As].count("/api/players/add"); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	if players := all[object](t, s.clients[st.As], "/api/players", nil); len(players) != st.Want.Players || players[0]["player_id"] != s.player {
		t.Errorf("players %v", players)
	}
}

func (s *scenario) follow(ctx context.Context, t *testing.T, st step) {
	next, stop := iter.Pull2(s.clients[st.As].Live(ctx))
	s.closeAtEnd(stop)
	s.live = next
	if event, err, ok := next(); !ok || err != nil || event.Notification != nil {
		t.Fatalf("got %+v, %v", event, err)
	}
}

func (s *scenario) decide(t *testing.T, st step) {
	type link struct {
		PlayerID  string  `json:"player_id"`
		RequestID *string `json:"request_id"`
	}
	links := all[link](t, s.clients[st.As], "/api/me/players", nil)
	if len(links) != 1 {
		t.Fatalf("links %v", links)
	}
	body := object{"player_id": links[0].PlayerID, "action": st.Action}
	if links[0].RequestID != nil {
		body["request_id"] = *links[0].RequestID
	}
	call[object](t, s.clients[st.As], "PUT", "/api/approval/"+st.As+"-response", body)
}

func (s *scenario) wantNotification(t *testing.T, st step) {
	if event, err, ok := s.live(); !ok || err != nil || event.Notification == nil || event.Notification.Type != st.Type {
		t.Fatalf("got %+v, %v", event, err)
	}
}

func (s *scenario) refresh(t *testing.T, st step) {
	s.mu.Lock()
	s.advance(t, st.Advance)
	s.mu.Unlock()
	var calls sync.WaitGroup
	for range st.Calls {
		calls.Go(func() {
			if _, err := touchline.Get[object](t.Context(), s.clients[st.As], "/api/me", nil); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if n := s.networks[st.As].count("/auth/refresh"); n != st.Want.Refreshes {
		t.Errorf("%d refreshes, want %d", n, st.Want.Refreshes)
	}
}

func (s *scenario) attendance(t *testing.T, st step) {
	c := s.clients[st.As]
	batch, _ := call[object](t, c, "POST", "/api/batches", object{"name": st.Batch})["batch_id"].(string)
	call[object](t, c, "PUT", "/api/batches/"+batch+"/players/"+s.player, nil)
	zone, err := time.LoadLocation(call[struct {
		TimeZone string `json:"time_zone"`
	}](t, c, "GET", "/api/coach/profile", nil).TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	marks := object{"marks": []object{{"player_id": s.player, "mark": st.Mark, "marked_at": now.UTC()}}}
	path := "/api/batches/" + batch + "/attendance/" + now.In(zone).Format(time.DateOnly)
	call[object](t, c, "PATCH", path, marks)
	sheet := call[struct{ Marks []struct{ Mark string } }](t, c, "PATCH", path, marks)
	if len(sheet.Marks) != 1 || sheet.Marks[0].Mark != st.Mark {
		t.Errorf("marks %v", sheet.Marks)
	}
}

func (s *scenario) pages(t *testing.T, st step) {
	for _, name := range st.Batches {
		call[object](t, s.clients[st.As], "POST", "/api/batches", object{"name": name})
	}
	if batches := all[object](t, s.clients[st.As], "/api/batches", url.Values{"limit": {strconv.Itoa(st.Limit)}}); len(batches) != st.Want.Items {
		t.Errorf("%d batches, want %d", len(batches), st.Want.Items)
	}
}

func (s *scenario) upload(t *testing.T, st step) {
	file, err := os.ReadFile("../../" + st.File)
	if err != nil {
		t.Fatal(err)
	}
	var sent, total int64
	document, err := s.clients[st.As].UploadDocument(t.Context(), st.Fields, "certificate.pdf", file, func(n, of int64) { sent, total = n, of })
	if err != nil || document.MediaType != "application/pdf" || sent != total || total == 0 {
		t.Errorf("got %+v, %v; sent %d of %d", document, err, sent, total)
	}
}

func (s *scenario) problem(t *testing.T, st step) {
	_, err := touchline.Call[object](t.Context(), s.clients[st.As], "POST", "/api/players/add", st.Body)
	p, ok := errors.AsType[*touchline.Problem](err)
	if !ok || !touchline.HasCode(err, st.Want.Code) || !slices.ContainsFunc(p.Errors, func(e touchline.FieldError) bool { return e.Pointer == st.Want.Pointer }) {
		t.Errorf("got %v", err)
	}
}

func (s *scenario) feed(t *testing.T, st step) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	service := touchline.NewService(s.operators, s.Token("availability"), nil)
	var types []string
	var saved string
	first := ""
	err := service.Follow(ctx, touchline.Feed{
		Cursor: &first,
		Save:   func(_ context.Context, cursor string) error { saved = cursor; return nil },
		Handle: func(_ context.Context, changes []touchline.Change) error {
			for _, c := range changes {
				types = append(types, c.Type)
			}
			if len(types) >= len(st.Want.Types) {
				defer cancel()
			}
			return nil
		},
	})
	if err != nil || !slices.Equal(types, st.Want.Types) || saved == "" {
		t.Errorf("got %v, %v, cursor %q", types, err, saved)
	}
	found, err := service.Availability(t.Context(), []string{s.player})
	if a, ok := found[s.player]; err != nil || !ok || a.GuardianAppEnabled {
		t.Errorf("got %+v, %v", found, err)
	}
}

func (s *scenario) wantWebhooks(t *testing.T, st step) {
	events := func() []touchline.Event {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Clone(s.received)
	}
	for end := time.Now().Add(30 * time.Second); len(events()) < len(st.Want.Types) && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	var sequences touchline.Sequences
	var types []string
	for _, e := range events() {
		types = append(types, e.Type)
		if order := sequences.Check(e.Data); order != touchline.Next {
			t.Errorf("%s: %s", e.Type, order)
		}
	}
	if !slices.Equal(types, st.Want.Types) {
		t.Fatalf("got %v", types)
	}
	if order := sequences.Check(events()[0].Data); order != touchline.Old {
		t.Errorf("a repeated event is %s", order)
	}
	header := http.Header{}
	for name, value := range map[string]string{"webhook-id": "msg_1", "webhook-timestamp": strconv.FormatInt(time.Now().Unix(), 10), "webhook-signature": "v1,AAAA"} {
		header.Set(name, value)
	}
	if _, err := touchline.VerifyWebhook(header, []byte("{}"), time.Now(), s.secret); !errors.Is(err, touchline.ErrWebhook) {
		t.Errorf("a wrong signature: %v", err)
	}
}

func (s *scenario) signOut(t *testing.T, st step) {
	if err := s.clients[st.As].Session.SignOut(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	_, err := touchline.Get[object](t.Context(), s.clients[st.As], "/api/me", nil)
	if _, ok := errors.AsType[*touchline.SignedOut](err); !ok {
		t.Errorf("got %v", err)
	}
}
