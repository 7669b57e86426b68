package database

import "context"

// span begins the span of a statement. Its result is nil if nothing is recorded; see endSpan.
func (db *DB) span(ctx context.Context, query string) (end func(error)) {
	system := "sqlite"
	if db.engine == postgres {
		system = "postgresql"
	}
	return db.tracer.Statement(ctx, system, query)
}

func endSpan(end func(error), err error) {
	if end != nil {
		end(err)
	}
}
