package vault_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/platform/vault"
)

const (
	sessionID = "0198a1b2-0000-7000-8000-000000000001"
	accountID = "0198a1b2-0000-7000-8000-000000000002"
)

var allPurposes = []vault.Purpose{vault.ForOTP, vault.ForRefresh, vault.ForDevice, vault.ForLink, vault.ForResponses, vault.ForCursors, vault.ForMedical, vault.ForKYC}

func newVault(t testing.TB, fill string) *vault.Vault {
	t.Helper()
	v, err := vault.New(bytes.Repeat([]byte(fill), 32))
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
				mac := string(newVault(t, secret).For(p).MAC(raw...))
				if other := seen[mac]; other != "" {
					t.Errorf("%s and %s have the same MAC", what, other)
				}
				seen[mac] = what
				if again := newVault(t, secret).For(p).MAC(raw...); string(again) != mac || len(mac) != 32 {
					t.Errorf("%s: got the MAC %x and then %x, want equal ones of 32 bytes", what, mac, again)
				}
			}
		}
	}
}

// TestSealAndOpen checks that Open needs the same secret, purpose, context and text.
func TestSealAndOpen(t *testing.T) {
	v, plain := newVault(t, "a"), []byte("493817")
	sealed := v.For(vault.ForOTP).Seal(plain, "row 1")
	if bytes.Contains(sealed, plain) {
		t.Fatal("the sealed text contains the plain text")
	}
	if bytes.Equal(sealed, v.For(vault.ForOTP).Seal(plain, "row 1")) {
		t.Error("two sealed texts of one plain text are equal")
	}
	for _, opened := range []func() ([]byte, error){
		func() ([]byte, error) { return v.For(vault.ForOTP).Open(sealed, "row 1") },
		func() ([]byte, error) { return newVault(t, "a").For(vault.ForOTP).Open(sealed, "row 1") },
	} {
		if got, err := opened(); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("opened %q, %v, want %q", got, err, plain)
		}
	}
	refused := func(what string, v *vault.Vault, p vault.Purpose, sealed []byte, context string) {
		t.Helper()
		if got, err := v.For(p).Open(sealed, context); err == nil {
			t.Errorf("%s: opened as %q, want an error", what, got)
		}
	}
	refused("other row", v, vault.ForOTP, sealed, "row 2")
	refused("empty context", v, vault.ForOTP, sealed, "")
	refused("other secret", newVault(t, "b"), vault.ForOTP, sealed, "row 1")
	for _, p := range allPurposes[1:] {
		refused(string(p), v, p, sealed, "row 1")
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		refused(fmt.Sprint("changed at ", i), v, vault.ForOTP, changed, "row 1")
		refused(fmt.Sprint("truncated at ", i), v, vault.ForOTP, sealed[:i], "row 1")
	}
}

// TestSealDeterministic checks that equal input gives equal output, and that any
// other text, context, purpose or secret does not.
func TestSealDeterministic(t *testing.T) {
	v, plain := newVault(t, "a"), []byte(`{"i":"1"}`)
	sealed := v.For(vault.ForCursors).SealDeterministic(plain, "list")
	if !bytes.Equal(sealed, newVault(t, "a").For(vault.ForCursors).SealDeterministic(plain, "list")) {
		t.Error("two outputs of one input differ")
	}
	if got, err := v.For(vault.ForCursors).Open(sealed, "list"); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened %q, %v, want %q", got, err, plain)
	}
	if _, err := v.For(vault.ForCursors).Open(sealed, "other list"); err == nil {
		t.Error("opened with another context")
	}
	nonces := map[string]bool{}
	for _, other := range [][]byte{
		sealed,
		v.For(vault.ForCursors).SealDeterministic([]byte(`{"i":"2"}`), "list"),
		v.For(vault.ForCursors).SealDeterministic(plain, "other list"),
		v.For(vault.ForOTP).SealDeterministic(plain, "list"),
		newVault(t, "b").For(vault.ForCursors).SealDeterministic(plain, "list"),
	} {
		nonces[string(other[:12])] = true
	}
	if len(nonces) != 5 {
		t.Errorf("5 different inputs have %d nonces", len(nonces))
	}
}

func TestNewVaultRefusesSecretLength(t *testing.T) {
	for _, n := range []int{0, 16, 31, 33, 64} {
		if _, err := vault.New(make([]byte, n)); err == nil {
			t.Errorf("a secret of %d bytes was accepted", n)
		}
	}
}
