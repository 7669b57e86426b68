package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerify verifies a stored receipt with the key alone, and with one changed byte.
func TestVerify(t *testing.T) {
	key, err := os.ReadFile("testdata/receipt.key")
	if err != nil {
		t.Fatal(err)
	}
	verify := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"verify"}, args...), nil, &out, &errs)
		return code, out.String() + errs.String()
	}
	const receipt = "testdata/receipt.tlog-proof"
	for _, k := range []string{"testdata/receipt.key", strings.TrimSpace(string(key))} {
		code, out := verify(receipt, "--key", k)
		if code != 0 || !strings.Contains(out, "Someone who received a code at +919800000001") || !strings.Contains(out, "It does not prove:") {
			t.Errorf("exit status %d: %s", code, out)
		}
	}
	text, err := os.ReadFile(receipt)
	if err != nil {
		t.Fatal(err)
	}
	text[200] ^= 1
	changed := filepath.Join(t.TempDir(), "changed")
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(strings.TrimSpace(string(key)), "touchline.example/log", "other.example/log", 1)
	for want, args := range map[string][]string{
		"was changed": {changed, "--key", "testdata/receipt.key"}, "neither a key": {receipt, "--key", other}, "--key is needed": {receipt}, "no such file": {"missing", "--key", "testdata/receipt.key"}, "open -": {receipt, "--key", "-"},
	} {
		if code, out := verify(args...); code == 0 || !strings.Contains(out, want) {
			t.Errorf("%q: exit status %d: %s, want %q", args, code, out, want)
		}
	}
	code, out := verify(receipt, "--key", "testdata/receipt.key", "--without", "student_name,student_birth_date")
	less := filepath.Join(t.TempDir(), "less")
	if err := os.WriteFile(less, []byte(out), 0o600); err != nil || code != 0 {
		t.Fatalf("exit status %d, %v: %s", code, err, out)
	}
	if code, out := verify(less, "--key", "testdata/receipt.key"); code != 0 || !strings.Contains(out, "a student whom this copy does not name") {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// TestVerifyWitness verifies a receipt that another program, litewitness, cosigned, and names a witness that did not.
func TestVerifyWitness(t *testing.T) {
	const strange = "other.example/w+7edaf10e+BAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
	verify := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"verify", "testdata/cosigned.tlog-proof", "--key", "testdata/receipt.key"}, args...), nil, &out, &errs)
		return code, out.String() + errs.String()
	}
	code, out := verify("--witness", "testdata/witness.key", "--witness", strange)
	for _, want := range []string{"The witness litewitness.example/w1 signed this state of the log at 2026-11-26 23:59:20 (UTC)", "The witness other.example/w did not sign"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit status %d: %s, want %q", code, out, want)
		}
	}
	if code, out := verify("--json", "--witness", "testdata/witness.key", "--witness", strange); code != 0 ||
		!strings.Contains(out, `"witnesses":[{"name":"litewitness.example/w1","cosigned_at":"2026-11-26T23:59:20Z"},{"name":"other.example/w","cosigned_at":null}]`) {
		t.Errorf("exit status %d: %s", code, out)
	}
	if code, out := verify(); code != 0 || strings.Contains(out, "witness") {
		t.Errorf("without witnesses: exit status %d: %s", code, out)
	}
	for key, want := range map[string]string{
		strings.Replace(strange, "7edaf10e", "7edaf10f", 1): "the hash in the key", "testdata/receipt.key": "must be for Ed25519 cosignatures", "missing": "written as name+hash+base64",
	} {
		if code, out := verify("--witness", key); code == 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit status %d: %s, want %q", key, code, out, want)
		}
	}
}
