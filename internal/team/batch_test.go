package team_test

import (
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
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

func TestRepeatEndedBy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"no error":         {nil, false},
		"player removed":   {fault.Missing(), true},
		"batch archived":   {(&team.Batch{ArchivedAt: time.Unix(1, 0)}).CheckOpen(), true},
		"database is down": {fault.Down(errors.New("down")), false},
	} {
		if got := team.EndedBy(tt.err); got != tt.want {
			t.Errorf("%s: got %t, want %t", name, got, tt.want)
		}
	}
}
