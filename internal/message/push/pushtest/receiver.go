// Package pushtest is a push service with one browser, for tests. It decrypts messages as a
// browser does.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Browser has the keys of a subscription.
type Browser struct {
	private *ecdh.PrivateKey
	secret  []byte
}

// NewBrowser returns a browser with fresh keys.
func NewBrowser(tb testing.TB) *Browser {
	tb.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	b := &Browser{private: private, secret: make([]byte, 16)}
	_, _ = rand.Read(b.secret)
	return b
}

// BrowserWith returns a browser with these keys, in base64url.
func BrowserWith(private, secret string) (*Browser, error) {
	key, err := decode(private)
	if err != nil {
		return nil, err
	}
	b := &Browser{}
	if b.private, err = ecdh.P256().NewPrivateKey(key); err != nil {
		return nil, err
	}
	b.secret, err = decode(secret)
	return b, err
}

// P256DH returns the public key of the browser.
func (b *Browser) P256DH() string { return encode(b.private.PublicKey().Bytes()) }

// Auth returns the secret of the browser.
func (b *Browser) Auth() string { return encode(b.secret) }

// Decrypt reads a body of one record (RFC 8188 with the keys of RFC 8291).
func (b *Browser) Decrypt(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, errors.New("the header is cut off")
	}
	salt, recordSize, keyID, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:21+int(body[20])], body[21+int(body[20]):]
	if len(record) > int(recordSize) || len(body) > 4096 {
		return nil, fmt.Errorf("%d bytes in %d, record size %d", len(record), len(body), recordSize)
	}
	sender, err := ecdh.P256().NewPublicKey(keyID)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(sender)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(b.private.PublicKey().Bytes()) + string(keyID)
	ikm, err := hkdf.Key(sha256.New, shared, b.secret, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(plain), "\x00")
	if text, ok := strings.CutSuffix(text, "\x02"); ok { // the delimiter of the last record
		return []byte(text), nil
	}
	return nil, errors.New("no delimiter of the last record")
}

// Message is a message that the service has taken.
type Message struct {
	Header http.Header
	// Text is decrypted.
	Text []byte
}

// Service is a push service on a real socket. Its methods are safe for concurrent use.
type Service struct {
	*httptest.Server
	Browser *Browser

	mu       sync.Mutex
	key      string
	status   int
	header   http.Header
	reason   string
	received []Message
	calls    int
	sizes    []int // of all bodies, in bytes
	fits     func(body []byte) bool
	changed  chan struct{} // closed and replaced at each message
}

// New starts a push service. key is the public key of the only sender that may use it.
func New(tb testing.TB, key string) *Service {
	tb.Helper()
	s := &Service{Browser: NewBrowser(tb), key: key, status: http.StatusCreated, changed: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(tb, w, r) }))
	tb.Cleanup(s.Close)
	return s
}

// Endpoint returns the URL of the browser's subscription.
func (s *Service) Endpoint() string { return s.URL + "/push/device" }

// AcceptFrom sets the public key of the only sender.
func (s *Service) AcceptFrom(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Answer makes the service answer with a status, and with headers, from the next message on.
func (s *Service) Answer(status int, header http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.header = status, header
}

// Explain sets the body of answers that refuse a message.
func (s *Service) Explain(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason = reason
}

// Refuse makes the service answer 413 to each body that does not fit; nil takes all.
func (s *Service) Refuse(fits func(body []byte) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fits = fits
}

// MozillaBridge reports whether Mozilla's bridge to Firefox for Android takes a body: what it sends to FCM is JSON with the body in base64url,
// at most 4,096 bytes (autopush-rs, fcm/client.rs).
func MozillaBridge(body []byte) bool {
	wrapped, err := json.Marshal(map[string]string{"chid": "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", "body": encode(body), "con": "aes128gcm"})
	return err == nil && len(wrapped) <= 4096
}

// Sizes returns the sizes of all bodies in bytes, oldest first, whatever the answer was.
func (s *Service) Sizes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sizes)
}

// Calls returns how many messages arrived, whatever the answer was.
func (s *Service) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Received returns the messages that were taken, oldest first.
func (s *Service) Received() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Wait returns the nth message, counted from 0. The test fails if it does not arrive within
// ten seconds.
func (s *Service) Wait(tb testing.TB, n int) Message {
	tb.Helper()
	deadline := time.After(time.Minute)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if all := s.Received(); len(all) > n {
			return all[n]
		}
		select {
		case <-changed:
		case <-deadline:
			tb.Fatalf("push message %d did not arrive", n)
		}
	}
}

func (s *Service) serve(tb testing.TB, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender gave up, as it does when a party revokes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.sizes = append(s.sizes, len(body))
	if err = s.check(r); err != nil {
		tb.Errorf("the push service refuses a message: %v", err)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if s.fits != nil && !s.fits(body) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if s.status < 300 {
		text, err := s.Browser.Decrypt(body)
		if err != nil {
			tb.Errorf("the browser cannot decrypt a message: %v", err)
		}
		s.received = append(s.received, Message{r.Header.Clone(), text})
		close(s.changed)
		s.changed = make(chan struct{})
	}
	for name, values := range s.header {
		w.Header()[name] = values
	}
	w.WriteHeader(s.status)
	if s.status >= 300 {
		_, _ = io.WriteString(w, s.reason)
	}
}

// check verifies what a push service needs: a POST with a TTL, from the sender that the browser
// subscribed to (RFC 8292).
func (s *Service) check(r *http.Request) error {
	if r.Method != http.MethodPost || r.URL.Path != "/push/device" || r.Header.Get("TTL") == "" || r.Header.Get("Content-Encoding") != "aes128gcm" {
		return fmt.Errorf("%s %s, %v", r.Method, r.URL.Path, r.Header)
	}
	token, key, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "vapid t="), ", k=")
	if !ok || key != s.key {
		return fmt.Errorf("key %q, want %q", key, s.key)
	}
	point, err := decode(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	_, err = jwt.Parse(token, func(*jwt.Token) (any, error) { return public, nil },
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(s.URL), jwt.WithExpirationRequired())
	return err
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decode(text string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(text) }
