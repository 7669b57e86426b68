package signin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// authenticator is the key store of a phone with one passkey.
type authenticator struct {
	t      *testing.T
	id     []byte
	key    *ecdsa.PrivateKey
	user   string
	origin string
	// domain, verified and counter are what it says about itself.
	domain   string
	verified bool
	counter  uint32
	// backup are its flags BE (8) and BS (16): the passkey may be synchronised, and is.
	backup byte
}

func newAuthenticator(t *testing.T, s *touchlinetest.Service) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	_, port, _ := cutLast(s.URL, ':')
	return &authenticator{t: t, id: id, key: key, origin: "http://localhost:" + port, domain: "localhost", verified: true}
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == sep {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authenticator) clientData(kind string, options map[string]any) []byte {
	data, err := json.Marshal(map[string]any{"type": kind, "challenge": options["challenge"], "origin": a.origin, "crossOrigin": false})
	if err != nil {
		a.t.Fatal(err)
	}
	return data
}

// authData is what the signature covers beside the client data.
func (a *authenticator) authData(flags byte, rest []byte) []byte {
	hash := sha256.Sum256([]byte(a.domain))
	if flags |= 1 | a.backup; a.verified {
		flags |= 4
	}
	return append(binary.BigEndian.AppendUint32(append(hash[:], flags), a.counter), rest...)
}

// create answers the options of a registration.
func (a *authenticator) create(options map[string]any) map[string]any {
	user, _ := options["user"].(map[string]any)
	handle, _ := base64.RawURLEncoding.DecodeString(user["id"].(string))
	a.user = encoded(handle)
	bytes := func(b []byte) []byte { return append([]byte{0x58, byte(len(b))}, b...) } // CBOR
	// {1: 2, 3: -7, -1: 1, -2: x, -3: y}
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		a.t.Fatal(err)
	}
	key := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21}, bytes(point[1:33])...)
	key = append(append(key, 0x22), bytes(point[33:])...)
	credential := append(make([]byte, 16), byte(len(a.id)>>8), byte(len(a.id)))
	data := a.authData(0x40, append(append(credential, a.id...), key...))
	// {"fmt": "none", "attStmt": {}, "authData": data}
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData"), bytes(data)...)
	return map[string]any{
		"id": encoded(a.id), "rawId": encoded(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"authenticatorAttachment": "platform",
		"response":                map[string]any{"clientDataJSON": encoded(a.clientData("webauthn.create", options)), "attestationObject": encoded(object), "transports": []string{"internal"}},
	}
}

// get answers the options of a sign-in.
func (a *authenticator) get(options map[string]any) map[string]any {
	client := a.clientData("webauthn.get", options)
	hash := sha256.Sum256(client)
	data := a.authData(0, nil)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return map[string]any{
		"id": encoded(a.id), "rawId": encoded(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": encoded(client), "authenticatorData": encoded(data), "signature": encoded(signature), "userHandle": a.user},
	}
}
