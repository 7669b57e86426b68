package store

import "sync/atomic"

// observer is told of every statement before it runs, for the test that looks at
// their plans. It is nil in the service.
var observer atomic.Pointer[func(query string, args []any)]

func observe(query string, args []any) {
	if told := observer.Load(); told != nil {
		(*told)(query, args)
	}
}
