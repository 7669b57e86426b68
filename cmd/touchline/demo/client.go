package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"
)

// waitTimeout limits the wait for a code or for the delivery of a message.
const waitTimeout = 15 * time.Second

// Service is the running service that Build fills.
type Service struct {
	// URL and AdminURL are the addresses of its listeners, without a final slash.
	URL, AdminURL string
	// OperatorToken has the scopes kyc and coaches.
	OperatorToken string
	Clock         *Clock
	Terminal      *Terminal
}

// object is a JSON object.
type object = map[string]any

// user is a session of a person.
type user struct {
	b        *builder
	id       string // account id
	token    string
	since    time.Time // when it signed in; a token works for 15 minutes
	url, who string
}

// builder calls the service. After an error it does nothing more.
type builder struct {
	Service
	ctx context.Context
	err error
}

// signIn opens a session of number in a role.
func (b *builder) signIn(role, number string) *user {
	u := &user{b: b, url: b.URL, who: role + " " + number, since: b.Clock.Now()}
	skip := len(b.Terminal.sent(number))
	u.call("POST", "/auth/request-otp", object{"mobile_number": number, "role": role})
	if b.err != nil {
		return u
	}
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	code, err := b.Terminal.code(ctx, number, skip)
	if err != nil {
		b.err = err
		return u
	}
	login := u.call("POST", "/auth/login", object{"mobile_number": number, "role": role, "otp": code, "device_name": "Demo phone"})
	u.token, _ = login["access_token"].(string)
	account, _ := login["account"].(object)
	u.id, _ = account["id"].(string)
	return u
}

// operator returns a client of the operators' listener.
func (b *builder) operator() *user {
	return &user{b: b, url: b.AdminURL, token: b.OperatorToken, who: "operator"}
}

// call sends a request and returns the object of the response.
func (u *user) call(method, path string, body object) object {
	if u.b.err != nil {
		return object{}
	}
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			u.b.err = err
			return object{}
		}
		reader = bytes.NewReader(text)
	}
	return u.send(method, path, "application/json", reader)
}

// upload adds a document of the coach and returns its id.
func (u *user) upload(fileName string, file []byte, fields map[string]string) string {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, text := range fields {
		_ = form.WriteField(name, text) // writing to a buffer cannot fail
	}
	part, _ := form.CreateFormFile("file", fileName)
	_, _ = part.Write(file)
	_ = form.Close()
	if u.b.err != nil {
		return ""
	}
	id, _ := u.send("POST", "/api/coach/documents", form.FormDataContentType(), &body)["document_id"].(string)
	return id
}

func (u *user) send(method, path, contentType string, body io.Reader) object {
	request, err := http.NewRequestWithContext(u.b.ctx, method, u.url+path, body)
	if err != nil {
		u.b.err = err
		return object{}
	}
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	if u.token != "" {
		request.Header.Set("Authorization", "Bearer "+u.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		u.b.err = err
		return object{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	out := object{}
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &out)
	}
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%d %s", response.StatusCode, text)
	}
	if err != nil {
		u.b.err = fmt.Errorf("%s: %s %s: %w", u.who, method, path, err)
	}
	return out
}

// settle waits until every message about the player has left, failed or is held. Messages
// are sent with the time of the demo's clock, which the next step changes.
func (u *user) settle(playerID string) {
	end := time.Now().Add(waitTimeout)
	for u.b.err == nil {
		status := u.call("GET", "/api/players/approval-status/"+playerID, nil)
		if !queued(status["guardian_request"]) && !queued(status["student_request"]) {
			return
		}
		if time.Now().After(end) {
			u.b.err = fmt.Errorf("the messages about player %s did not leave within %s", playerID, waitTimeout)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// queued reports whether a delivery of the request waits for an attempt or a status, and is
// not held by a limit.
func queued(request any) bool {
	r, _ := request.(object)
	deliveries, _ := r["deliveries"].([]any)
	for _, d := range deliveries {
		if d, ok := d.(object); ok && d["state"] == "queued" && d["reason"] != "held" {
			return true
		}
	}
	return false
}
