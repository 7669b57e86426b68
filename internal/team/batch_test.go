package team_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

func TestBatchCheckOpen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		archivedAt time.Time
		want       string
	}{
		{time.Time{}, ""},
		{time.Unix(1, 0), "batch_archived"},
	} {
		if got := fault.CodeOf((&team.Batch{ArchivedAt: tt.archivedAt}).CheckOpen()); got != tt.want {
			t.Errorf("archived at %s: got %q, want %q", tt.archivedAt, got, tt.want)
		}
	}
}
