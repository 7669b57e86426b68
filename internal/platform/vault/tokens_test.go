package vault_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/vault"
)

func refreshToken(t testing.TB, v *vault.Vault, id string, generation int64) string {
	t.Helper()
	token, err := v.NewRefreshToken(id, generation)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestRefreshTokenIsDerived checks that a token has its session and generation, and
// that making it again returns the same token.
func TestRefreshTokenIsDerived(t *testing.T) {
	v := newVault(t, "a")
	for _, generation := range []int64{1, 2, 255, 256, 1<<32 - 1} {
		token := refreshToken(t, v, sessionID, generation)
		if id, got, ok := v.ParseRefreshToken(token); !ok || id != sessionID || got != generation {
			t.Errorf("parsed %s %d %v, want %s %d", id, got, ok, sessionID, generation)
		}
		if again := refreshToken(t, newVault(t, "a"), sessionID, generation); again != token {
			t.Error("the second token differs from the first")
		}
	}
	if _, err := v.NewRefreshToken("not an id", 1); err == nil {
		t.Error("an invalid session ID got a token")
	}
}

func TestParseRefreshTokenRefusesForgery(t *testing.T) {
	v := newVault(t, "a")
	token := refreshToken(t, v, sessionID, 3)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != vault.RefreshBytes {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	refused := func(what, token string) {
		t.Helper()
		if id, generation, ok := v.ParseRefreshToken(token); ok || id != "" || generation != 0 {
			t.Errorf("%s: got %s %d, want a refusal", what, id, generation)
		}
	}
	for bit := range 8 * len(raw) {
		changed := bytes.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		refused("changed bit", base64.RawURLEncoding.EncodeToString(changed))
	}
	for what, token := range map[string]string{
		"empty": "", "text": "not-a-token", "longer": token + "A", "shorter": token[:len(token)-1],
		"padded": token + "==", "leading space": " " + token, "trailing line break": token + "\n", "leading line break": "\n" + token[1:], "line break inside": token[:9] + "\r\n" + token[9:], "doubled": token + token,
		"standard base64":   base64.RawStdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, vault.RefreshBytes)),
		"of another secret": refreshToken(t, newVault(t, "b"), sessionID, 3),
		"device token":      v.DeviceToken(sessionID), "link token": v.LinkToken(sessionID),
		"very long": strings.Repeat("A", 1<<16),
	} {
		refused(what, token)
	}
	// The last character has unused bits, which must be zero.
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		if other := token[:len(token)-1] + string(c); other != token {
			refused("other last character", other)
		}
	}
}

// TestDeviceAndLinkTokens checks the strength of both tokens, and that the store saves
// only a hash.
func TestDeviceAndLinkTokens(t *testing.T) {
	v := newVault(t, "a")
	for what, tt := range map[string]struct {
		token func(string) string
		bits  int
	}{"device": {v.DeviceToken, 256}, "link": {v.LinkToken, 128}} {
		token := tt.token(sessionID)
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil || 8*len(raw) != tt.bits {
			t.Errorf("%s: got %d bits, %v, want %d", what, 8*len(raw), err, tt.bits)
		}
		if token == tt.token(accountID) || token != tt.token(sessionID) {
			t.Errorf("%s: two IDs have one token, or one ID has two", what)
		}
		if saved := vault.HashToken(token); len(saved) != 32 || bytes.Contains(saved, raw) {
			t.Errorf("%s: the saved value is no hash of the token", what)
		}
	}
	if !bytes.Equal(vault.HashToken("x"), vault.HashToken("x")) {
		t.Error("HashLink and HashToken differ")
	}
}

func FuzzParseRefreshToken(f *testing.F) {
	v := newVault(f, "a")
	f.Add(refreshToken(f, v, sessionID, 1))
	f.Add(refreshToken(f, newVault(f, "b"), sessionID, 1))
	f.Add("not-a-token")
	f.Fuzz(func(t *testing.T, s string) {
		id, generation, ok := v.ParseRefreshToken(s)
		if !ok {
			if id != "" || generation != 0 {
				t.Fatalf("%q is refused, but returns %s %d", s, id, generation)
			}
			return
		}
		if again := refreshToken(t, v, id, generation); again != s {
			t.Fatalf("%q and %q are two forms of one token", s, again)
		}
	})
}
