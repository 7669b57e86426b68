package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
)

// identityKey is the key of the object that holds the id of the store.
const identityKey = "touchline-store"

// Identify returns the id of the store, which an object in it holds. If known, the
// id in the database, is empty, Identify creates a missing object with an id from
// newID; concurrent replicas get the same id. Otherwise the store must hold known:
// with another store, or with an empty folder because a volume is not mounted,
// stored documents would look lost. That error is not a fault, so that the process
// does not start.
func Identify(ctx context.Context, store Store, known string, newID func() string) (string, error) {
	id, err := readIdentity(ctx, store)
	switch {
	case err == nil:
	case !errors.Is(err, ErrNotFound):
		return "", fmt.Errorf("read the id of the file store: %w", err)
	case known != "":
		return "", fmt.Errorf("the file store is empty, but the database expects the store with the id %s: FILES names another place, or the volume is not mounted", known)
	default:
		if err := writeIdentity(ctx, store, newID()); err != nil {
			return "", fmt.Errorf("write the id of the file store: %w", err)
		}
		// Another replica may have written its id first, so read it back.
		id, err = readIdentity(ctx, store)
		if err != nil {
			return "", fmt.Errorf("read the id of the file store: %w", err)
		}
	}
	if known != "" && id != known {
		return "", fmt.Errorf("this file store has the id %s, but the database expects the store with the id %s: FILES names another installation's store", id, known)
	}
	return id, nil
}

func readIdentity(ctx context.Context, store Store) (string, error) {
	r, _, err := store.Open(ctx, identityKey)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(r, 64))
	if err := errors.Join(err, r.Close()); err != nil {
		return "", err
	}
	id := string(bytes.TrimSpace(text))
	if uuid.Validate(id) != nil {
		return "", fmt.Errorf("object %s: not an id", identityKey)
	}
	return id, nil
}

func writeIdentity(ctx context.Context, store Store, id string) error {
	data := []byte(id + "\n")
	if s, ok := store.(interface {
		create(ctx context.Context, key string, data []byte) error
	}); ok {
		return s.create(ctx, identityKey, data)
	}
	return store.Put(ctx, identityKey, bytes.NewReader(data), int64(len(data)), "text/plain")
}
