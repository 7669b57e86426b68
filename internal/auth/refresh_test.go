package auth_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/auth"
)

func refreshToken(t testing.TB, v *auth.Vault, id string, generation int64) string {
	t.Helper()
	token, err := v.NewRefreshToken(id, generation)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestRefreshToken: it says its session and generation, and is the same each
// time that it is made.
func TestRefreshToken(t *testing.T) {
	v := vault(t, "a")
	for _, generation := range []int64{1, 2, 255, 256, 1<<32 - 1} {
		token := refreshToken(t, v, sessionID, generation)
		if id, got, ok := v.ParseRefreshToken(token); !ok || id != sessionID || got != generation {
			t.Errorf("%s %d %v, want %s %d", id, got, ok, sessionID, generation)
		}
		if again := refreshToken(t, vault(t, "a"), sessionID, generation); again != token {
			t.Error("the successor cannot be repeated")
		}
	}
	if _, err := v.NewRefreshToken("not an id", 1); err == nil {
		t.Error("a session without an id got a token")
	}
}

// TestRefreshTokenRefuses whatever this service did not make.
func TestRefreshTokenRefuses(t *testing.T) {
	v := vault(t, "a")
	token := refreshToken(t, v, sessionID, 3)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != auth.RefreshBytes {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	refused := func(what, token string) {
		t.Helper()
		if id, generation, ok := v.ParseRefreshToken(token); ok || id != "" || generation != 0 {
			t.Errorf("%s: %s %d", what, id, generation)
		}
	}
	for bit := range 8 * len(raw) {
		changed := bytes.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		refused("a bit changed", base64.RawURLEncoding.EncodeToString(changed))
	}
	for what, token := range map[string]string{
		"empty": "", "words": "not-a-token", "one more": token + "A", "one less": token[:len(token)-1],
		"padded": token + "==", "a space": " " + token, "a line": token + "\n", "lines": "\n" + token[1:], "a line within": token[:9] + "\r\n" + token[9:], "doubled": token + token,
		"other base64":     base64.RawStdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, auth.RefreshBytes)),
		"another secret's": refreshToken(t, vault(t, "b"), sessionID, 3),
		"a device's":       v.DeviceToken(sessionID), "a link's": v.LinkToken(sessionID),
		"very long": strings.Repeat("A", 1<<16),
	} {
		refused(what, token)
	}
	// The last character holds bits that no byte has.
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		if other := token[:len(token)-1] + string(c); other != token {
			refused("another last character", other)
		}
	}
}

// TestTokensOfThings: devices and links have tokens of the promised strength,
// and what the store keeps does not show them.
func TestTokensOfThings(t *testing.T) {
	v := vault(t, "a")
	for what, tt := range map[string]struct {
		token func(string) string
		bits  int
	}{"device": {v.DeviceToken, 256}, "link": {v.LinkToken, 128}} {
		token := tt.token(sessionID)
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil || 8*len(raw) != tt.bits {
			t.Errorf("%s: %d bits, %v", what, 8*len(raw), err)
		}
		if token == tt.token(accountID) || token != tt.token(sessionID) {
			t.Errorf("%s: the token is not the thing's own", what)
		}
		if kept := auth.HashToken(token); len(kept) != 32 || bytes.Contains(kept, raw) {
			t.Errorf("%s: what is kept is no hash", what)
		}
	}
	if !bytes.Equal(auth.HashLink("x"), auth.HashToken("x")) {
		t.Error("links are kept otherwise than tokens")
	}
}

// FuzzParseRefreshToken reads what strangers send as a refresh token.
func FuzzParseRefreshToken(f *testing.F) {
	v := vault(f, "a")
	f.Add(refreshToken(f, v, sessionID, 1))
	f.Add(refreshToken(f, vault(f, "b"), sessionID, 1))
	f.Add("not-a-token")
	f.Fuzz(func(t *testing.T, s string) {
		id, generation, ok := v.ParseRefreshToken(s)
		if !ok {
			if id != "" || generation != 0 {
				t.Fatalf("%q is refused, and says %s %d", s, id, generation)
			}
			return
		}
		if again := refreshToken(t, v, id, generation); again != s {
			t.Fatalf("%q and %q are one token", s, again)
		}
	})
}
