package pushtest

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	fcmProject = "touchline-test"
	fcmAccount = "sender@touchline-test.iam.gserviceaccount.com"
	fcmKeyID   = "key-1"
	tokenPath  = "/token"
	sendPath   = "/v1/projects/" + fcmProject + "/messages:send"
)

// serviceKey is the key of the service account. It is made once, because that takes long.
var serviceKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// AppMessage is a message that FCM has taken, with the names of the REST reference of FCM.
type AppMessage struct {
	Token        string `json:"token"`
	Notification struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	} `json:"notification"`
	Data    map[string]string `json:"data"`
	Android struct {
		Priority     string `json:"priority"`
		TTL          string `json:"ttl"`
		Notification struct {
			Tag string `json:"tag"`
		} `json:"notification"`
	} `json:"android"`
	APNS struct {
		Headers map[string]string `json:"headers"`
	} `json:"apns"`
}

// FCM is Google's token endpoint and FCM HTTP v1 on a real socket, for one service account. Its
// methods are safe for concurrent use.
type FCM struct {
	*httptest.Server

	mu       sync.Mutex
	issued   int // access tokens
	current  string
	lifetime int // of an access token, in seconds
	refuse   bool
	status   int
	header   http.Header
	body     string
	received []AppMessage
	calls    int
	changed  chan struct{} // closed and replaced at each message
}

// NewFCM starts an FCM.
func NewFCM(tb testing.TB) *FCM {
	tb.Helper()
	f := &FCM{status: http.StatusOK, lifetime: 3599, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+tokenPath, func(w http.ResponseWriter, r *http.Request) { f.issue(tb, w, r) })
	mux.HandleFunc("POST "+sendPath, func(w http.ResponseWriter, r *http.Request) { f.send(tb, w, r) })
	f.Server = httptest.NewServer(mux)
	tb.Cleanup(f.Close)
	return f
}

// ServiceAccount returns the JSON that Google gives out for the service account.
func (f *FCM) ServiceAccount() string {
	der, err := x509.MarshalPKCS8PrivateKey(serviceKey())
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": fcmProject, "private_key_id": fcmKeyID,
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": fcmAccount, "client_id": "1", "token_uri": f.URL + tokenPath,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Answer makes FCM answer with a status, headers and a body from the next message on.
func (f *FCM) Answer(status int, header http.Header, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.header, f.body = status, header, body
}

// RefuseAccount makes the token endpoint refuse the service account, or accept it again.
func (f *FCM) RefuseAccount(refuse bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

// EndToken ends the current access token before its time.
func (f *FCM) EndToken() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = ""
}

// Issued returns how many access tokens were asked for.
func (f *FCM) Issued() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.issued
}

// Calls returns how many messages arrived, whatever the answer was.
func (f *FCM) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Wait returns the nth message that FCM has taken, counted from 0. The test fails if it does
// not arrive within ten seconds.
func (f *FCM) Wait(tb testing.TB, n int) AppMessage {
	tb.Helper()
	deadline := time.After(time.Minute)
	for {
		f.mu.Lock()
		changed, all := f.changed, slices.Clone(f.received)
		f.mu.Unlock()
		if len(all) > n {
			return all[n]
		}
		select {
		case <-changed:
		case <-deadline:
			tb.Fatalf("message %d did not arrive at FCM", n)
		}
	}
}

// issue exchanges a JWT for an access token (RFC 7523), as Google documents it.
func (f *FCM) issue(tb testing.TB, w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.issued++
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if f.refuse {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"Invalid grant: account not found"}`)
		return
	}
	if err := f.checkAssertion(r); err != nil {
		tb.Errorf("the token endpoint refuses a request: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	f.current = "access-" + strconv.Itoa(f.issued)
	fmt.Fprintf(w, `{"access_token":%q,"expires_in":%d,"token_type":"Bearer"}`, f.current, f.lifetime)
}

func (f *FCM) checkAssertion(r *http.Request) error {
	if grant := r.PostFormValue("grant_type"); grant != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return fmt.Errorf("grant_type %q", grant)
	}
	token, err := jwt.Parse(r.PostFormValue("assertion"), func(*jwt.Token) (any, error) { return &serviceKey().PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithAudience(f.URL+tokenPath), jwt.WithIssuer(fcmAccount), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	if err != nil {
		return err
	}
	claims := token.Claims.(jwt.MapClaims)
	if claims["scope"] != "https://www.googleapis.com/auth/firebase.messaging" || token.Header["kid"] != fcmKeyID {
		return fmt.Errorf("header %v, claims %v", token.Header, claims)
	}
	ends, _ := claims.GetExpirationTime()
	issued, _ := claims.GetIssuedAt()
	if ends.Sub(issued.Time) > time.Hour+10*time.Second {
		return errors.New("the assertion lives for more than an hour")
	}
	return nil
}

// send answers messages:send. It accepts documented fields alone.
func (f *FCM) send(tb testing.TB, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if f.current == "" || r.Header.Get("Authorization") != "Bearer "+f.current {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}`)
		return
	}
	var in struct {
		Message AppMessage `json:"message"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err == nil {
		err = decoder.Decode(&in)
	}
	if err != nil || len(body) > 4096 {
		tb.Errorf("FCM refuses a message of %d bytes: %v", len(body), err)
	}
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.WriteHeader(f.status)
	if f.status != http.StatusOK || f.body != "" {
		_, _ = io.WriteString(w, f.body)
		return
	}
	f.received = append(f.received, in.Message)
	close(f.changed)
	f.changed = make(chan struct{})
	fmt.Fprintf(w, `{"name":"projects/%s/messages/%d"}`, fcmProject, len(f.received))
}

// FCMError returns a body of FCM with an error code.
func FCMError(status int, code, canonical string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"The request failed.","status":%q,"details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":%q}]}}`, status, canonical, code)
}
