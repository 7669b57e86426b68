package database

import "sync/atomic"

// observer is nil in the service.
var observer atomic.Pointer[func(query string, args []any)]

// Observe calls fn with every statement of this process before it runs, until stop is
// called. Tests use it to inspect query plans.
func Observe(fn func(query string, args []any)) (stop func()) {
	observer.Store(&fn)
	return func() { observer.Store(nil) }
}

func observe(query string, args []any) {
	if fn := observer.Load(); fn != nil {
		(*fn)(query, args)
	}
}
