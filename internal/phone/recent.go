package phone

import "sync"

// recentSize is how many spellings each of the two generations remembers.
const recentSize = 1024

// recent remembers how spellings were read: who asks for a code comes back at
// once with the same number, and reading it takes longer than looking it up.
var recent spellings

// spelling is a number as it was typed, where it was typed.
type spelling struct{ region, text string }

// spellings forgets those that were read least lately. Only numbers that are
// valid get in, and it lives in memory alone.
type spellings struct {
	mu          sync.Mutex
	young, aged map[spelling]Number
}

func (s *spellings) get(as spelling) (Number, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.young[as]
	if !ok {
		if n, ok = s.aged[as]; ok {
			s.keep(as, n)
		}
	}
	return n, ok
}

func (s *spellings) put(as spelling, n Number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(as, n)
}

func (s *spellings) keep(as spelling, n Number) {
	if s.young == nil || len(s.young) >= recentSize {
		s.aged, s.young = s.young, make(map[spelling]Number)
	}
	s.young[as] = n
}
