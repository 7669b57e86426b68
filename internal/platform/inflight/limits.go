package inflight

import "net/http"

// Limits are the limits of one process. Reads and writes have separate ones: on SQLite
// one write runs at a time, so writes that wait for their turn would fill a common limit,
// and reads would be refused although the process could serve them.
type Limits struct{ Reads, Writes *Limiter }

// NewLimits returns two limiters; see New.
func NewLimits(limit int) *Limits {
	return &Limits{Reads: New(limit), Writes: New(limit)}
}

// For returns the limiter of an HTTP method. That of nil Limits admits every request.
func (l *Limits) For(method string) *Limiter {
	switch {
	case l == nil:
		return nil
	case method == http.MethodGet || method == http.MethodHead:
		return l.Reads
	default:
		return l.Writes
	}
}
