package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
)

// identity is the key of the object by which a store is known.
const identity = "touchline-store"

// Identify returns the id of the store, which an object in it holds. Where known,
// the id that the database has, is empty, that object is made if it is absent, with
// an id from newID; replicas that race for it get the same. Else the store must
// hold known: another store, or an empty one where the right one should be mounted,
// would make documents that are safe look lost. That error says so and is no fault.
func Identify(ctx context.Context, store Store, known string, newID func() string) (string, error) {
	id, err := readIdentity(ctx, store)
	switch {
	case err == nil:
	case !errors.Is(err, ErrAbsent):
		return "", fmt.Errorf("ask the file store who it is: %w", err)
	case known != "":
		return "", fmt.Errorf("the file store is empty, but the database knows the one with the id %s: FILES names another place, or what should be there is not mounted", known)
	default:
		if err := writeIdentity(ctx, store, newID()); err != nil {
			return "", fmt.Errorf("mark the file store as ours: %w", err)
		}
		// A replica may have been quicker: what the store says counts.
		if id, err = readIdentity(ctx, store); err != nil {
			return "", fmt.Errorf("ask the file store who it is: %w", err)
		}
	}
	if known != "" && id != known {
		return "", fmt.Errorf("this file store has the id %s, but the database knows the one with the id %s: FILES names another installation's store", id, known)
	}
	return id, nil
}

func readIdentity(ctx context.Context, store Store) (string, error) {
	r, _, err := store.Open(ctx, identity)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(r, 64))
	if err := errors.Join(err, r.Close()); err != nil {
		return "", err
	}
	id := string(bytes.TrimSpace(text))
	if uuid.Validate(id) != nil {
		return "", fmt.Errorf("its object %s holds no id", identity)
	}
	return id, nil
}

func writeIdentity(ctx context.Context, store Store, id string) error {
	data := []byte(id + "\n")
	if s, ok := store.(interface {
		create(ctx context.Context, key string, data []byte) error
	}); ok {
		return s.create(ctx, identity, data)
	}
	return store.Put(ctx, identity, bytes.NewReader(data), int64(len(data)), "text/plain")
}
