package baseline

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/touchline/touchline/bench"
)

// Footprint is what the released program takes before it is asked anything.
type Footprint struct {
	// Ready is from the start to the first 200, on a database that is migrated: the median of some starts.
	Ready time.Duration
	// Resident is the memory in RAM once it has been idle for a while, in bytes.
	Resident int64
	// Binary is the size of the program, stripped, in bytes.
	Binary int64
}

// starts is how often the program is started; idle is how long it is left alone before its memory is read.
const (
	starts = 11
	idle   = 5 * time.Second
)

// Measure starts the released program again and again.
func Measure(ctx context.Context, engine string) (Footprint, error) {
	s, err := NewServer(ctx, engine, "log")
	if err != nil {
		return Footprint{}, err
	}
	defer s.Close()
	info, err := os.Stat(s.program)
	if err != nil {
		return Footprint{}, err
	}
	f := Footprint{Binary: info.Size()}
	var ready []time.Duration
	for i := range starts + 1 {
		p, err := s.Start(ctx)
		if err != nil {
			return f, err
		}
		if i > 0 { // the first migrates
			ready = append(ready, p.Ready)
		}
		if i == starts {
			time.Sleep(idle)
			if f.Resident, err = bench.Resident(p.PID()); err != nil {
				return f, err
			}
		}
		if err := p.Stop(ctx); err != nil {
			return f, fmt.Errorf("stop: %w", err)
		}
	}
	slices.Sort(ready)
	f.Ready = ready[len(ready)/2]
	return f, nil
}

// String says what was found.
func (f Footprint) String() string {
	return fmt.Sprintf("first 200 after %s, %.1f MB resident when idle, binary of %.1f MB",
		f.Ready.Round(100*time.Microsecond), float64(f.Resident)/1e6, float64(f.Binary)/1e6)
}
