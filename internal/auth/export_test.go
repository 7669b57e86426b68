package auth

import "crypto/ecdsa"

// Exports for tests.
const (
	CacheSize = cacheSize
)

var (
	NewCode    = newCode
	EmailKey   = emailKey
	ConfirmKey = confirmKey
)

// Cached returns the number of verified tokens in the cache.
func (t *Tokens) Cached() int { return t.verified.Len() }

// CacheClaims adds a verified token to the cache and returns whether it is found there.
func (t *Tokens) CacheClaims(sum [32]byte, c Claims) bool {
	t.verified.Add(sum, c)
	return t.IsCached(sum)
}

// IsCached returns whether a verified token is in the cache.
func (t *Tokens) IsCached(sum [32]byte) bool { return t.verified.Contains(sum) }

// SigningKey returns the key that signs now.
func (k *Keys) SigningKey() *ecdsa.PrivateKey { return k.signer().private }

// SendLimits is sendLimits.
func (s *Service) SendLimits(key ChallengeKey, in OTPRequest, roles RoleFacts) []Limit {
	return s.sendLimits(key, in, roles)
}
