package touchline

import (
	"context"
	"sync"
)

// Store keeps tokens, for example in the keyring of the system. Get returns "" for a key that is not stored.
type Store interface {
	Get(ctx context.Context, key string) (string, error)
	Set(ctx context.Context, key, value string) error
	Delete(ctx context.Context, key string) error
}

// MemoryStore keeps tokens until the process ends.
type MemoryStore struct{ values sync.Map }

// Get implements Store.
func (m *MemoryStore) Get(_ context.Context, key string) (string, error) {
	value, _ := m.values.Load(key)
	text, _ := value.(string)
	return text, nil
}

// Set implements Store.
func (m *MemoryStore) Set(_ context.Context, key, value string) error {
	m.values.Store(key, value)
	return nil
}

// Delete implements Store.
func (m *MemoryStore) Delete(_ context.Context, key string) error {
	m.values.Delete(key)
	return nil
}
