package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/hex"
	"testing"

	"github.com/touchline/touchline/internal/auth"
)

// TestSignES256 with the key and the signatures of RFC 6979, appendix A.2.5.
func TestSignES256(t *testing.T) {
	d, err := hex.DecodeString("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"sample": "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716" + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
		"test":   "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367" + "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083",
	} {
		got, err := auth.SignES256(key, text)
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, %v", text, got, err)
		}
	}
}
