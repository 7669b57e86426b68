package auth

import "crypto/ecdsa"

// What the tests look at from outside.
const (
	CacheSize    = cacheSize
	RefreshBytes = refreshBytes
)

var (
	NewCode   = newCode
	HashToken = hashToken
)

// VerifiedTokens is the memory of Tokens.
type VerifiedTokens struct{ verifiedTokens }

func (v *VerifiedTokens) Put(sum [32]byte, c Claims)           { v.put(sum, c) }
func (v *VerifiedTokens) Get(sum [32]byte) (c Claims, ok bool) { return v.get(sum) }
func (v *VerifiedTokens) Len() int                             { return len(v.young) + len(v.previous) }

// SigningKey returns the key that signs now.
func (k *Keys) SigningKey() *ecdsa.PrivateKey { return k.signer().private }

func (v *Vault) NewRefreshToken(sessionID string, generation int64) (string, error) {
	return v.newRefreshToken(sessionID, generation)
}

func (v *Vault) ParseRefreshToken(token string) (sessionID string, generation int64, ok bool) {
	return v.parseRefreshToken(token)
}

func (v *Vault) DeviceToken(deviceID string) string { return v.deviceToken(deviceID) }
