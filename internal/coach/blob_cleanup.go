package coach

import (
	"context"
	"errors"
	"fmt"
)

// cleanupBatch is how many blobs one query returns. A run stops after
// cleanupMaxFailures failed deletions. The next one begins after them.
const (
	cleanupBatch       = 100
	cleanupMaxFailures = 10
)

// DeleteExpiredBlobs deletes blobs without a document and blobs of unfinished
// uploads: first the bytes, then the record, so that no bytes are left without a
// record. Several replicas may run it at once. It returns the number of deleted blobs.
func (s *Documents) DeleteExpiredBlobs(ctx context.Context) (int64, error) {
	var deleted int64
	var failed []error
	var last ExpiredBlob
	if stopped := s.cleanupStopped.Swap(nil); stopped != nil {
		last = *stopped
	}
	for {
		expired, err := s.Store.ExpiredBlobs(ctx, last, cleanupBatch)
		if err != nil {
			return deleted, errors.Join(append(failed, err)...)
		}
		for _, b := range expired {
			last = b
			if err := s.deleteBlob(ctx, b.Key); err != nil {
				// Continue with the others.
				if failed = append(failed, fmt.Errorf("delete blob %s: %w", b.Key, err)); len(failed) == cleanupMaxFailures {
					s.cleanupStopped.Store(&b)
					return deleted, errors.Join(failed...)
				}
				continue
			}
			deleted++
		}
		if len(expired) < cleanupBatch || ctx.Err() != nil {
			return deleted, errors.Join(failed...)
		}
	}
}

func (s *Documents) deleteBlob(ctx context.Context, key string) error {
	if err := s.Files.Delete(ctx, key); err != nil {
		return err
	}
	return s.Store.DeleteBlob(ctx, key)
}
