package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
)

// BenchmarkAccess issues access tokens. The case signature is the lower bound: only the
// ECDSA signature. Lower is better.
func BenchmarkAccess(b *testing.B) {
	b.Run("signature", func(b *testing.B) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		hash := make([]byte, 32)
		for b.Loop() {
			if _, _, err := ecdsa.Sign(rand.Reader, key, hash); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("token", func(b *testing.B) {
		tokens := auth.NewTokens(openKeys(b, new(fakeKeyStore), time.Now), issuer, time.Minute, time.Now)
		s := session()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tokens.Access(s); err != nil {
				b.Fatal(err)
			}
		}
	})
}
