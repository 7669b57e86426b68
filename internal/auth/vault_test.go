package auth_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/auth"
)

var allPurposes = []auth.Purpose{auth.ForOTP, auth.ForRefresh, auth.ForDevice, auth.ForLink, auth.ForAnswers, auth.ForCursors, auth.ForMedical, auth.ForKYC}

func vault(t testing.TB, fill string) *auth.Vault {
	t.Helper()
	v, err := auth.NewVault(bytes.Repeat([]byte(fill), 32))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMAC: no two secrets, purposes or lists of parts share one.
func TestMAC(t *testing.T) {
	seen := map[string]string{}
	for _, secret := range []string{"a", "b"} {
		for _, p := range allPurposes {
			for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"b", "a"}} {
				var raw [][]byte
				for _, part := range parts {
					raw = append(raw, []byte(part))
				}
				what := fmt.Sprintf("%s/%s/%q", secret, p, parts)
				mac := string(vault(t, secret).MAC(p, raw...))
				if twin := seen[mac]; twin != "" {
					t.Errorf("%s and %s have the same MAC", what, twin)
				}
				seen[mac] = what
				if again := vault(t, secret).For(p).MAC(raw...); string(again) != mac || len(mac) != 32 {
					t.Errorf("%s: another MAC the next time, or a short one", what)
				}
			}
		}
	}
}

// TestSeal: what was sealed opens with the same secret, purpose and context, and
// with nothing else.
func TestSeal(t *testing.T) {
	v, plain := vault(t, "a"), []byte("493817")
	sealed := v.Seal(auth.ForOTP, plain, "row 1")
	if bytes.Contains(sealed, plain) {
		t.Fatal("it can be read")
	}
	if bytes.Equal(sealed, v.Seal(auth.ForOTP, plain, "row 1")) {
		t.Error("the same text twice looks the same")
	}
	for _, opened := range []func() ([]byte, error){
		func() ([]byte, error) { return v.Open(auth.ForOTP, sealed, "row 1") },
		func() ([]byte, error) { return vault(t, "a").For(auth.ForOTP).Open(sealed, "row 1") },
	} {
		if got, err := opened(); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%q, %v", got, err)
		}
	}
	refused := func(what string, v *auth.Vault, p auth.Purpose, sealed []byte, context string) {
		t.Helper()
		if got, err := v.Open(p, sealed, context); err == nil {
			t.Errorf("%s: opened as %q", what, got)
		}
	}
	refused("another row", v, auth.ForOTP, sealed, "row 2")
	refused("no row", v, auth.ForOTP, sealed, "")
	refused("another secret", vault(t, "b"), auth.ForOTP, sealed, "row 1")
	for _, p := range allPurposes[1:] {
		refused(string(p), v, p, sealed, "row 1")
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		refused(fmt.Sprint("changed at ", i), v, auth.ForOTP, changed, "row 1")
		refused(fmt.Sprint("cut at ", i), v, auth.ForOTP, sealed[:i], "row 1")
	}
}

// TestSealDeterministic checks that equal input gives equal output, and that any
// other text, context, purpose or secret does not.
func TestSealDeterministic(t *testing.T) {
	v, plain := vault(t, "a"), []byte(`{"i":"1"}`)
	sealed := v.SealDeterministic(auth.ForCursors, plain, "list")
	if !bytes.Equal(sealed, vault(t, "a").For(auth.ForCursors).SealDeterministic(plain, "list")) {
		t.Error("two outputs of one input differ")
	}
	if got, err := v.Open(auth.ForCursors, sealed, "list"); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened %q, %v, want %q", got, err, plain)
	}
	if _, err := v.Open(auth.ForCursors, sealed, "other list"); err == nil {
		t.Error("opened with another context")
	}
	nonces := map[string]bool{}
	for _, other := range [][]byte{
		sealed,
		v.SealDeterministic(auth.ForCursors, []byte(`{"i":"2"}`), "list"),
		v.SealDeterministic(auth.ForCursors, plain, "other list"),
		v.SealDeterministic(auth.ForOTP, plain, "list"),
		vault(t, "b").SealDeterministic(auth.ForCursors, plain, "list"),
	} {
		nonces[string(other[:12])] = true
	}
	if len(nonces) != 5 {
		t.Errorf("5 different inputs have %d nonces", len(nonces))
	}
}

// TestSecretLength: a secret has 32 bytes.
func TestSecretLength(t *testing.T) {
	for _, n := range []int{0, 16, 31, 33, 64} {
		if _, err := auth.NewVault(make([]byte, n)); err == nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
}
