package batch

import (
	"testing"

	"github.com/touchline/touchline/internal/platform/wire"
)

// TestScheduleFaultsInOrder: the same request gets the same response, byte for byte.
func TestScheduleFaultsInOrder(t *testing.T) {
	t.Parallel()
	for range 50 {
		var f wire.Faults
		request{Name: "U12", Schedule: wire.Opt[[]slotRequest]{Set: true, Value: []slotRequest{{Weekday: "monday", Start: "5pm", End: "6pm"}}}}.read(&f)
		if len(f) != 2 || f[0].Pointer != "/schedule/0/start" || f[1].Pointer != "/schedule/0/end" {
			t.Fatalf("got %v, want the faults of start and end", f)
		}
	}
}
