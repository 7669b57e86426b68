package store

// Observe has told called with every statement that runs, until the function
// that it returns is called.
func Observe(told func(query string, args []any)) (stop func()) {
	observer.Store(&told)
	return func() { observer.Store(nil) }
}
