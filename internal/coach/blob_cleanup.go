package coach

import (
	"context"
	"errors"
	"fmt"
)

// sweepBatch is how many blobs one look of the sweeper takes, sweepFailures after
// how many that would not go it leaves the rest for later.
const (
	cleanupBatch       = 100
	cleanupMaxFailures = 10
)

// Sweep removes the bytes that no document names any more, and those of uploads
// that never came to an end: the bytes first and then what is known of them, so
// that nothing is forgotten that is still there. Any replica may do it, and
// several at once. It returns how many blobs went.
func (s *Documents) DeleteExpiredBlobs(ctx context.Context) (int64, error) {
	var gone int64
	var failed []error
	var last ExpiredBlob
	for {
		ended, err := s.Store.ExpiredBlobs(ctx, last, cleanupBatch)
		if err != nil {
			return gone, errors.Join(append(failed, err)...)
		}
		for _, b := range ended {
			last = b
			if err := s.deleteBlob(ctx, b.Key); err != nil {
				// One that cannot be removed now keeps no other from going.
				if failed = append(failed, fmt.Errorf("remove blob %s: %w", b.Key, err)); len(failed) == cleanupMaxFailures {
					return gone, errors.Join(failed...)
				}
				continue
			}
			gone++
		}
		if len(ended) < cleanupBatch || ctx.Err() != nil {
			return gone, errors.Join(failed...)
		}
	}
}

func (s *Documents) deleteBlob(ctx context.Context, key string) error {
	if err := s.Files.Delete(ctx, key); err != nil {
		return err
	}
	return s.Store.DeleteBlob(ctx, key)
}
