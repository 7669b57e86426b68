package auth_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/auth"
)

var allPurposes = []auth.Purpose{auth.ForOTP, auth.ForRefresh, auth.ForDevice, auth.ForLink, auth.ForResponses, auth.ForCursors, auth.ForMedical, auth.ForKYC}

func vault(t testing.TB, fill string) *auth.Vault {
	t.Helper()
	v, err := auth.NewVault(bytes.Repeat([]byte(fill), 32))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMACIsUnique checks that secrets, purposes and lists of parts never share a MAC.
func TestMACIsUnique(t *testing.T) {
	seen := map[string]string{}
	for _, secret := range []string{"a", "b"} {
		for _, p := range allPurposes {
			for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"b", "a"}} {
				var raw [][]byte
				for _, part := range parts {
					raw = append(raw, []byte(part))
				}
				what := fmt.Sprintf("%s/%s/%q", secret, p, parts)
				mac := string(vault(t, secret).For(p).MAC(raw...))
				if other := seen[mac]; other != "" {
					t.Errorf("%s and %s have the same MAC", what, other)
				}
				seen[mac] = what
				if again := vault(t, secret).For(p).MAC(raw...); string(again) != mac || len(mac) != 32 {
					t.Errorf("%s: got the MAC %x and then %x, want equal ones of 32 bytes", what, mac, again)
				}
			}
		}
	}
}

// TestSealAndOpen checks that Open needs the same secret, purpose, context and text.
func TestSealAndOpen(t *testing.T) {
	v, plain := vault(t, "a"), []byte("493817")
	sealed := v.For(auth.ForOTP).Seal(plain, "row 1")
	if bytes.Contains(sealed, plain) {
		t.Fatal("the sealed text contains the plain text")
	}
	if bytes.Equal(sealed, v.For(auth.ForOTP).Seal(plain, "row 1")) {
		t.Error("two sealed texts of one plain text are equal")
	}
	for _, opened := range []func() ([]byte, error){
		func() ([]byte, error) { return v.For(auth.ForOTP).Open(sealed, "row 1") },
		func() ([]byte, error) { return vault(t, "a").For(auth.ForOTP).Open(sealed, "row 1") },
	} {
		if got, err := opened(); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("opened %q, %v, want %q", got, err, plain)
		}
	}
	refused := func(what string, v *auth.Vault, p auth.Purpose, sealed []byte, context string) {
		t.Helper()
		if got, err := v.For(p).Open(sealed, context); err == nil {
			t.Errorf("%s: opened as %q, want an error", what, got)
		}
	}
	refused("other row", v, auth.ForOTP, sealed, "row 2")
	refused("empty context", v, auth.ForOTP, sealed, "")
	refused("other secret", vault(t, "b"), auth.ForOTP, sealed, "row 1")
	for _, p := range allPurposes[1:] {
		refused(string(p), v, p, sealed, "row 1")
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		refused(fmt.Sprint("changed at ", i), v, auth.ForOTP, changed, "row 1")
		refused(fmt.Sprint("truncated at ", i), v, auth.ForOTP, sealed[:i], "row 1")
	}
}

// TestSealDeterministic checks that equal input gives equal output, and that any
// other text, context, purpose or secret does not.
func TestSealDeterministic(t *testing.T) {
	v, plain := vault(t, "a"), []byte(`{"i":"1"}`)
	sealed := v.For(auth.ForCursors).SealDeterministic(plain, "list")
	if !bytes.Equal(sealed, vault(t, "a").For(auth.ForCursors).SealDeterministic(plain, "list")) {
		t.Error("two outputs of one input differ")
	}
	if got, err := v.For(auth.ForCursors).Open(sealed, "list"); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened %q, %v, want %q", got, err, plain)
	}
	if _, err := v.For(auth.ForCursors).Open(sealed, "other list"); err == nil {
		t.Error("opened with another context")
	}
	nonces := map[string]bool{}
	for _, other := range [][]byte{
		sealed,
		v.For(auth.ForCursors).SealDeterministic([]byte(`{"i":"2"}`), "list"),
		v.For(auth.ForCursors).SealDeterministic(plain, "other list"),
		v.For(auth.ForOTP).SealDeterministic(plain, "list"),
		vault(t, "b").For(auth.ForCursors).SealDeterministic(plain, "list"),
	} {
		nonces[string(other[:12])] = true
	}
	if len(nonces) != 5 {
		t.Errorf("5 different inputs have %d nonces", len(nonces))
	}
}

func TestNewVaultRefusesSecretLength(t *testing.T) {
	for _, n := range []int{0, 16, 31, 33, 64} {
		if _, err := auth.NewVault(make([]byte, n)); err == nil {
			t.Errorf("a secret of %d bytes was accepted", n)
		}
	}
}
