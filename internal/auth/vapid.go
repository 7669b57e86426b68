package auth

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
)

const vapidKeyID = "vapid"

// addVAPIDKey adds the VAPID key. The first replica to insert it wins.
func (k *Keys) addVAPIDKey(ctx context.Context) error {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	now := k.now()
	return k.add(ctx, private.Bytes(), Secret{ID: vapidKeyID, Purpose: string(vault.ForVAPID), CreatedAt: now, ActiveAt: now, EndsAt: now.AddDate(1000, 0, 0)})
}

func (k *Keys) openVAPIDKey(s Secret) (*ecdh.PrivateKey, error) {
	plain, _, err := k.masters.open(s)
	if err != nil {
		return nil, err
	}
	private, err := ecdh.P256().NewPrivateKey(plain)
	return private, fault.Wrap(err, "VAPID key")
}
