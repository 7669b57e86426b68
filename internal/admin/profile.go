package admin

import (
	"context"
	"errors"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	profileSeconds    = 10
	maxProfileSeconds = 60
	// profileTimeout is longer than the longest profile.
	profileTimeout = (maxProfileSeconds + 10) * time.Second
)

var errProfiling = errors.New("another profile runs")

// timedProfiles run for a time. The others are read at once.
var timedProfiles = map[string]bool{"profile": true, "trace": true}

// profile serves GET /debug/pprof/{profile}.
func (s *Server) profile(_ context.Context, r Request[NoBody]) (Response, error) {
	name := r.PathPart("profile")
	found := pprof.Lookup(name)
	if found == nil && !timedProfiles[name] {
		return Response{}, fault.Missing()
	}
	seconds, err := strconv.Atoi(r.Query.Get("seconds"))
	if err != nil || seconds < 1 || seconds > maxProfileSeconds {
		seconds = profileSeconds
	}
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		if timedProfiles[name] && !s.profiling.TryLock() {
			return fault.Down(errProfiling)
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(profileTimeout)) // longer than other responses may take
		w.Header().Set("Content-Type", "application/octet-stream")
		if !timedProfiles[name] {
			return found.WriteTo(w, 0)
		}
		defer s.profiling.Unlock()
		start, stop := pprof.StartCPUProfile, pprof.StopCPUProfile
		if name == "trace" {
			start, stop = trace.Start, trace.Stop
		}
		if err := start(w); err != nil {
			return err
		}
		defer stop()
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-r.Context().Done():
		}
		return nil
	}}.WithHeader("Cache-Control", "no-store"), nil
}

// profileRoute is the operation of profile.
func (s *Server) profileRoute(authorize []func(context.Context, Caller) error) Route {
	return Route{Method: "GET", Pattern: "/debug/pprof/{profile}", Handle: handle(s.profile), Authorize: authorize, Produces: endpoint.AnyMedia, Timeout: profileTimeout}
}
