package baseline

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/database"
)

// statements are the SQL statements of one operation of the service, recorded while it ran. The baseline runs these
// texts, so it cannot drift from the service.
type statements struct {
	recorded []recorded
	err      error
}

type recorded struct {
	query      string
	parameters int
	taken      bool
}

// record runs an operation several times and returns the statements that every run made. Statements of background work, which
// runs at other times, are not in all of them.
func record(operation func() error) (*statements, error) {
	const runs = 3
	var common []recorded
	for i := range runs {
		made, err := observe(operation)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			common = made
			continue
		}
		common = intersect(common, made)
	}
	return &statements{recorded: common}, nil
}

func observe(operation func() error) ([]recorded, error) {
	var mu sync.Mutex
	var made []recorded
	stop := database.Observe(func(query string, args []any) {
		mu.Lock()
		defer mu.Unlock()
		made = append(made, recorded{query: query, parameters: len(args)})
	})
	err := operation()
	stop()
	mu.Lock()
	defer mu.Unlock()
	return made, err
}

// intersect returns the statements of a that b has too, in the order of a.
func intersect(a, b []recorded) []recorded {
	left := map[string]int{}
	for _, r := range b {
		left[r.query]++
	}
	var common []recorded
	for _, r := range a {
		if left[r.query] > 0 {
			left[r.query]--
			common = append(common, r)
		}
	}
	return common
}

// take returns the next statement that begins with prefix, ignoring white space, and has so many parameters. If there is none,
// complete returns an error.
func (s *statements) take(prefix string, parameters int) string {
	for i, r := range s.recorded {
		if r.taken || !strings.HasPrefix(oneLine(r.query), prefix) {
			continue
		}
		if r.parameters != parameters {
			s.fail(fmt.Errorf("the statement %q has %d parameters; the baseline passes %d", prefix, r.parameters, parameters))
		}
		s.recorded[i].taken = true
		return r.query
	}
	s.fail(fmt.Errorf("the operation has no statement that begins with %q", prefix))
	return ""
}

func (s *statements) fail(err error) { s.err = errors.Join(s.err, err) }

// complete returns an error unless every call of take found its statement and none is left over.
func (s *statements) complete() error {
	for _, r := range s.recorded {
		if !r.taken {
			s.fail(fmt.Errorf("the baseline lacks a statement of the operation: %s", oneLine(r.query)))
		}
	}
	return s.err
}

func oneLine(query string) string { return strings.Join(strings.Fields(query), " ") }
