package program

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/touchline/touchline/bench"
)

// Footprint has the time and memory of a start and the size of the built program. Lower is better for all three.
type Footprint struct {
	// Ready is the median time from the start to the first response with status 200, on a migrated database.
	Ready time.Duration
	// Resident is the resident memory after some idle seconds, in bytes.
	Resident int64
	// Binary is the size of the stripped program, in bytes.
	Binary int64
}

const (
	// starts is how many starts are measured.
	starts = 11
	// idle is how long the program is idle before its memory is read.
	idle = 5 * time.Second
)

// MeasureFootprint builds the program and starts it several times.
func MeasureFootprint(ctx context.Context, engine string) (Footprint, error) {
	s, err := NewServer(ctx, "", engine, "log")
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
		if i > 0 { // the first start migrates the database
			ready = append(ready, p.Ready)
		}
		if i == starts {
			time.Sleep(idle)
			if f.Resident, _, err = bench.Memory(p.PID()); err != nil {
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

// String formats f for people.
func (f Footprint) String() string {
	return fmt.Sprintf("first 200 after %s, %.1f MB resident when idle, binary of %.1f MB (lower is better)",
		f.Ready.Round(100*time.Microsecond), float64(f.Resident)/1e6, float64(f.Binary)/1e6)
}
