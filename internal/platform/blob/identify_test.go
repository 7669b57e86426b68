package blob_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/blob/blobtest"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestIdentify also checks that concurrent replicas get the same id.
func TestIdentify(t *testing.T) {
	t.Parallel()
	blobtest.Each(t, func(t *testing.T, address string) {
		s := blobtest.Open(t, address)
		if _, err := blob.Identify(ctx, s, uuid.NewString(), uuid.NewString); err == nil || !strings.Contains(err.Error(), "empty") {
			t.Errorf("empty store with a known id: %v, want an error", err)
		}
		ids := make([]string, 8)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				var err error
				if ids[i], err = blob.Identify(ctx, s, "", uuid.NewString); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i, id := range ids {
			if id != ids[0] || uuid.Validate(id) != nil {
				t.Errorf("replica %d got id %q, replica 0 got %q", i, id, ids[0])
			}
		}
		if id, err := blob.Identify(ctx, s, ids[0], nil); err != nil || id != ids[0] {
			t.Errorf("matching id: got %q, %v", id, err)
		}
		if _, err := blob.Identify(ctx, s, uuid.NewString(), nil); err == nil || fault.KindOf(err) != fault.Internal {
			t.Errorf("other id: %v, want an internal error", err)
		}
		if err := s.Put(ctx, "touchline-store", strings.NewReader("x"), 1, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := blob.Identify(ctx, s, "", uuid.NewString); err == nil {
			t.Error("invalid identity object: got no error")
		}
	})
	if _, err := blob.Identify(ctx, blobtest.Open(t, "s3://k:s@b?endpoint=http://127.0.0.1:"+strconv.Itoa(1)), "", uuid.NewString); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("unreachable store: %v, want unavailable", err)
	}
}
