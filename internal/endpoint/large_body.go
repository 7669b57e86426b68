package endpoint

import (
	"net/http"
	"sync"

	"github.com/touchline/touchline/internal/fault"
)

// maxLargeBodies limits the bodies of more than maxBody that are in memory at the same time, and
// maxClientLargeBodies those of one client: the calls are anonymous until the body is read, so one
// client that sends slowly must not take every slot.
const maxLargeBodies, maxClientLargeBodies = 16, 4

// largeBodies counts the bodies of more than maxBody in memory. It is safe for concurrent use.
type largeBodies struct {
	mu       sync.Mutex
	all      int
	byClient map[string]int
}

// acquire takes a slot for a body of a client. It returns false if none is free.
func (l *largeBodies) acquire(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxLargeBodies || l.byClient[client] >= maxClientLargeBodies {
		return false
	}
	l.all++
	l.byClient[client]++
	return true
}

func (l *largeBodies) release(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.byClient[client]--; l.byClient[client] == 0 {
		delete(l.byClient, client)
	}
}

// bodyLimit returns the largest body that a request may have, in bytes, and takes a slot for a
// body of more than maxBody. Such a body must have a Content-Length.
func (a *Adapter[C]) bodyLimit(w http.ResponseWriter, r *http.Request, rt *Route[C]) (limit int64, release func(), err error) {
	client := infoOf(r).Client
	switch {
	case rt.Body.isUpload():
		return rt.MaxUpload, func() {}, nil
	case r.ContentLength <= maxBody: // also an unknown length
		return maxBody, func() {}, nil
	case r.ContentLength > rt.MaxBody:
		return max(maxBody, rt.MaxBody), func() {}, nil
	case a.largeBodies.acquire(client):
		return rt.MaxBody, func() { a.largeBodies.release(client) }, nil
	}
	closeConnection(w) // the body is not read
	return 0, nil, fault.Overloaded("Too many large requests are being handled. Send it again.")
}
