package main

import (
	"time"
)

// faults are what goes wrong in a step.
type faults struct {
	skew time.Duration
	lose int  // the number of the call whose answer is lost; 0 loses none
	full bool // the disk
}

// arm chooses the fault of a step.
func (s *service) arm() {
	r := s.run
	if r.Calm {
		return
	}
	switch n := r.random.IntN(100); {
	case n < 5:
		s.faults.lose = 1 + r.random.IntN(4)
	case n < 10:
		killer.arm(s.databaseFile(), 1+r.random.IntN(150))
	}
}

// disarm ends the fault of the step.
func (s *service) disarm() {
	s.faults.lose = 0
	killer.disarm()
	s.run.network.settle(false)
}

// loseAnswer reports whether this answer is lost.
func (f *faults) loseAnswer() bool {
	if f.lose > 0 {
		f.lose--
		return f.lose == 0
	}
	return false
}

func (f *faults) freeDisk(s *service) { f.full = false }

// restartIfEnded starts another process if this one has ended. It reports whether it did.
func (s *service) restartIfEnded() bool {
	if !killer.ended() {
		return false
	}
	_ = s.close() // its connections are closed; nothing reaches the files
	killer.restore()
	s.run.network.settle(true)
	s.open()
	return true
}
