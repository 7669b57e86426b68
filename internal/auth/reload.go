package auth

import (
	"context"
	"crypto/ecdsa"
	"strings"
	"time"
)

const (
	// reloadPause is the least time between two reloads for unknown key IDs, which a client can choose.
	reloadPause = 100 * time.Millisecond
	// reloadTimeout limits a reload.
	reloadTimeout = 5 * time.Second
	// keyIDPrefix begins the ID of each signing key.
	keyIDPrefix = "es256-"
	maxKeyID    = 40
)

// reload is one read of all keys. err is set when done is closed.
type reload struct {
	done chan struct{}
	err  error
}

// publicKey returns the public key with the ID, or nil. For an unknown ID it reads the keys again:
// after touchline keys rotate-signing another replica may have signed before this one knows the key.
func (k *Keys) publicKey(id string) (*ecdsa.PublicKey, error) {
	key := k.public(id)
	if key != nil || !strings.HasPrefix(id, keyIDPrefix) || len(id) > maxKeyID {
		return key, nil
	}
	if err := k.reload(); err != nil {
		return nil, err
	}
	return k.public(id), nil
}

// reload reads all keys. The callers that wait for the next reload share it.
func (k *Keys) reload() error {
	k.mu.Lock()
	r := k.next
	if r == nil {
		r = &reload{done: make(chan struct{})}
		k.next = r
		time.AfterFunc(max(0, reloadPause-time.Since(k.reloaded)), func() { k.run(r) })
	}
	k.mu.Unlock()
	<-r.done
	return r.err
}

func (k *Keys) run(r *reload) {
	k.mu.Lock()
	k.next, k.reloaded = nil, time.Now()
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), reloadTimeout)
	defer cancel()
	r.err = k.refresh(ctx)
	close(r.done)
}
